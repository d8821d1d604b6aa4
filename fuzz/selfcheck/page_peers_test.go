package selfcheck

import (
	"fmt"
)

// peers has a row for each instruction that MMA-Sim has, with how many times as long as
// mmafuzz it takes.
func peers(file string) (string, error) {
	all, err := lines[peered](file)
	if err != nil {
		return "", err
	}
	v := all[0].Peer
	if v == nil {
		return "", fmt.Errorf("the first line does not describe the peer")
	}
	var body [][]string
	for _, p := range all[1:] {
		if p.Lacks != "" {
			continue
		}
		body = append(body, []string{code(p.Arch + "/" + p.Instruction), ratio(p.Single.Ratio), ratio(p.Batched.Ratio), fmt.Sprint(p.Dots), fmt.Sprint(p.Differ)})
	}
	head := []string{"instruction", "one tile", "many", "results", "that differ"}
	return fmt.Sprintf("MMA-Sim %s, PyTorch %s:\n\n", v["mmasim"], v["torch"]) + markdown("lr", head, body), nil
}

// ratio writes a ratio with two significant digits.
func ratio(x float64) string {
	unit := 1.0
	for x/unit >= 100 {
		unit *= 10
	}
	return fmt.Sprintf("%.0f", float64(int(x/unit+0.5))*unit)
}
