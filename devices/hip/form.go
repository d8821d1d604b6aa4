package hip

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// form is an instruction as its name describes it.
type form struct {
	inst    *mma.Instruction
	op      string // mfma, smfmac, wmma, swmmac
	d       string // type of D, as in the name
	m, n, k int    // k counts all elements of B, also of a sparse instruction
	types   string // of A and B as in the name
	f8f6f4  bool   // the formats of A and B are modifiers of the instruction
	lanes   int    // of a wave
	blocks  int    // tiles that an instruction executes
	gfx12   bool   // RDNA4, whose layouts differ from RDNA3's
}

// name is the grammar of the names in the catalogue.
var name = regexp.MustCompile(`^v_(mfma|smfmac|wmma|swmmac)(?:_scale)?_([a-z0-9]+)_(\d+)x(\d+)x(\d+)_?(?:\d+b_)?(f8f6f4_)?(\w+)$`)

func formOf(i *mma.Instruction) (*form, error) {
	s := name.FindStringSubmatch(i.Name)
	if s == nil {
		return nil, fmt.Errorf("%s is no matrix instruction of an AMD GPU", i.FullName())
	}
	f := &form{inst: i, op: s[1], d: s[2], f8f6f4: s[6] != "", types: s[7], lanes: 64, blocks: 1, gfx12: i.Arch == "rdna4"}
	for n, p := range []*int{&f.m, &f.n, &f.k} {
		*p, _ = strconv.Atoi(s[3+n]) // the catalogue has read it too
	}
	switch f.op {
	case "wmma", "swmmac":
		f.lanes = 32
	case "mfma":
		// Every lane holds at least two registers of A, or one of FP32 and of CDNA1's
		// BF16. A shape that does not fill them has several blocks.
		least := 2
		if f.types == "f32" || f.types == "bf16" && !strings.Contains(i.Name, "_bf16") {
			least = 1
		}
		f.blocks = max(1, f.lanes*least*32/bits(i.A)/(f.m*f.k))
	}
	return f, nil
}

// sparse reports whether A keeps two of four elements.
func (f *form) sparse() bool { return f.op == "smfmac" || f.op == "swmmac" }

// bits returns how many bits an element takes in a register.
func bits(id fp.ID) int {
	if w := id.Width(); w > 1 {
		return 8 * w
	}
	return int(id.Get().CodeBits())
}

// mnemonic returns the instruction's name in machine code.
func (f *form) mnemonic() string {
	if f.f8f6f4 {
		return strings.TrimSuffix(f.inst.Name, "_"+f.types)
	}
	return f.inst.Name
}

// modifiers returns the modifiers that follow the registers in a listing of machine code.
func (f *form) modifiers() string {
	if !f.f8f6f4 {
		return ""
	}
	var words []string
	if f.inst.Scale != fp.None {
		words = append(words, "op_sel_hi:[0,0,0]")
	}
	a, b := f.codes()
	if a != 0 {
		words = append(words, fmt.Sprintf("cbsz:%d", a))
	}
	if b != 0 {
		words = append(words, fmt.Sprintf("blgp:%d", b))
	}
	return strings.Join(words, " ")
}

// codes returns the modifiers cbsz and blgp that stand for the formats of A and
// B (CDNA4 ISA, V_MFMA_F32_16X16X128_F8F6F4).
func (f *form) codes() (a, b int) {
	code := map[fp.ID]int{fp.E4M3: 0, fp.E5M2: 1, fp.E2M3: 2, fp.E3M2: 3, fp.E2M1: 4}
	return code[f.inst.A], code[f.inst.B]
}

// builtin returns the compiler's name of the instruction. CDNA3 changed the spelling of
// MFMA, but those that CDNA1 or CDNA2 had keep the older one.
func (f *form) builtin() string {
	types := "_" + f.types
	switch {
	case f.f8f6f4:
		return fmt.Sprintf("__builtin_amdgcn_mfma_scale_%s_%dx%dx%d_f8f6f4", f.d, f.m, f.n, f.k)
	case f.op == "mfma" && f.legacy():
		types = f.types
		if types == "bf16" && strings.Contains(f.inst.Name, "_bf16") {
			types = "bf16_1k"
		}
	}
	s := fmt.Sprintf("__builtin_amdgcn_%s_%s_%dx%dx%d%s", f.op, f.d, f.m, f.n, f.k, types)
	if f.lanes == 32 {
		s += "_w32"
	}
	if f.op == "wmma" && f.gfx12 {
		s += "_gfx12"
	}
	return s
}

// legacy reports whether CDNA1 or CDNA2 had the MFMA.
func (f *form) legacy() bool {
	switch f.inst.A {
	case fp.FP32, fp.FP64:
		return true
	case fp.FP16, fp.BF16:
		return f.m*f.k*f.blocks <= 256 // four elements a lane
	}
	return false
}
