package vulkan

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// maxText is the largest size of a driver's text, in bytes, that is accepted.
const maxText = 16 << 20

// inspect asks the driver about a compiled shader: its statistics, and the matrix
// instructions in its listings. It returns them as facts about a kernel.
func (d *device) inspect(pipeline handle) (map[string]string, error) {
	const call = "vkGetPipelineExecutablePropertiesKHR"
	parts, err := list(call, func(p *executableProperties) { p.kind = kindExecutable }, func(n *uint32, all *executableProperties) int32 {
		return d.executables(d.device, &pipelineInfo{kind: kindPipelineInfo, pipeline: pipeline}, n, all)
	})
	if err != nil {
		return nil, err
	}
	var said, listings []string
	for n := range parts {
		i := &executableInfo{kind: kindExecutableInfo, pipeline: pipeline, index: uint32(n)}
		words, err := d.numbers(i)
		if err != nil {
			return nil, err
		}
		texts, err := d.texts(i)
		if err != nil {
			return nil, err
		}
		said = append(said, fmt.Sprintf("%s, subgroups of %d: %s", cText(parts[n].name[:]), parts[n].subgroup, strings.Join(words, ", ")))
		listings = append(listings, texts...)
	}
	return map[string]string{"statistics": strings.Join(said, "; "), "code": code(listings)}, nil
}

// numbers returns the statistics of a part of a pipeline, each as "name value".
func (d *device) numbers(i *executableInfo) ([]string, error) {
	const call = "vkGetPipelineExecutableStatisticsKHR"
	all, err := list(call, func(s *executableStatistic) { s.kind = kindStatistic }, func(n *uint32, all *executableStatistic) int32 {
		return d.statistics(d.device, i, n, all)
	})
	var words []string
	for _, s := range all {
		words = append(words, cText(s.name[:])+" "+s.text())
	}
	return words, err
}

// text writes the value (VkPipelineExecutableStatisticFormatKHR).
func (s *executableStatistic) text() string {
	switch s.format {
	case 0:
		return fmt.Sprint(uint32(s.value) != 0)
	case 1:
		return fmt.Sprint(int64(s.value))
	case 3:
		return fmt.Sprint(math.Float64frombits(s.value))
	}
	return fmt.Sprint(s.value)
}

// texts returns the listings of a part of a pipeline.
func (d *device) texts(i *executableInfo) ([]string, error) {
	const call = "vkGetPipelineExecutableInternalRepresentationsKHR"
	kind := func(t *executableText) { t.kind = kindRepresentation }
	ask := func(n *uint32, all *executableText) int32 { return d.representations(d.device, i, n, all) }
	all, err := list(call, kind, ask) // the sizes
	if err != nil || len(all) == 0 {
		return nil, err
	}
	bodies := make([][]byte, len(all))
	for n := range all {
		if all[n].size > maxText {
			return nil, fmt.Errorf("%s: a text of %d bytes", call, all[n].size)
		}
		bodies[n] = make([]byte, all[n].size+1)
		all[n].data = &bodies[n][0]
	}
	n := uint32(len(all))
	if code := ask(&n, &all[0]); code != incomplete {
		if err := check(call, code); err != nil {
			return nil, err
		}
	}
	var texts []string
	for n := range all {
		if all[n].isText != 0 {
			texts = append(texts, cText(bodies[n]))
		}
	}
	return texts, nil
}

// mnemonics matches matrix instructions in listings of drivers: AMD's (RADV prints the
// ISA), Intel's (ANV), NVIDIA's.
var mnemonics = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(v_(wmma|swmmac|mfma|smfmac)_\w+|dpas(\.\w+)*|(hmma|imma|dmma|qmma|omma|hgmma|qgmma)(\.\w+)*)`)
})

// code names the matrix instructions in listings, or says that there are none: then the
// driver probably does not use the matrix unit.
func code(listings []string) string {
	if len(listings) == 0 {
		return "the driver shows none"
	}
	count := map[string]int{}
	for _, text := range listings {
		for _, m := range mnemonics().FindAllString(text, -1) {
			count[strings.ToLower(m)]++
		}
	}
	if len(count) == 0 {
		return fmt.Sprintf("no matrix instruction that is known in %d listings: emulated, or unknown to this version", len(listings))
	}
	var words []string
	for _, m := range slices.Sorted(maps.Keys(count)) {
		words = append(words, fmt.Sprintf("%d %s", count[m], m))
	}
	return "native: " + strings.Join(words, ", ")
}

// uuidText writes a UUID as the CUDA driver writes that of the same GPU.
func uuidText(u [16]byte) string {
	b := binary.BigEndian
	return fmt.Sprintf("GPU-%08x-%04x-%04x-%04x-%012x", b.Uint32(u[:]), b.Uint16(u[4:]), b.Uint16(u[6:]), b.Uint16(u[8:]), b.Uint64(u[8:])&(1<<48-1))
}
