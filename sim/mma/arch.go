package mma

import "strings"

// Arch is an architecture of GPUs or of processors.
type Arch struct {
	Name  string // as in target names
	Chip  string // compute capability, gfx name, or a processor's instruction set
	Title string
}

// Archs lists the architectures in order of vendor and age.
var Archs = []Arch{
	{"volta", "sm_70", "NVIDIA Volta (V100)"},
	{"turing", "sm_75", "NVIDIA Turing (T4)"},
	{"ampere", "sm_80", "NVIDIA Ampere (A100, A2)"},
	{"ada", "sm_89", "NVIDIA Ada Lovelace (RTX 4090, L40S)"},
	{"hopper", "sm_90", "NVIDIA Hopper (H100, H200)"},
	{"blackwell", "sm_100", "NVIDIA Blackwell (B200)"},
	{"blackwell-ultra", "sm_103", "NVIDIA Blackwell Ultra (B300)"},
	{"thor", "sm_110", "NVIDIA Thor"},
	{"rtx-blackwell", "sm_120", "NVIDIA RTX Blackwell (RTX PRO 6000, RTX 5090)"},
	{"gb10", "sm_121", "NVIDIA GB10 (DGX Spark)"},
	{"cdna1", "gfx908", "AMD CDNA1 (MI100)"},
	{"cdna2", "gfx90a", "AMD CDNA2 (MI210, MI250X)"},
	{"cdna3", "gfx942", "AMD CDNA3 (MI300X)"},
	{"cdna4", "gfx950", "AMD CDNA4 (MI350X)"},
	{"rdna3", "gfx11", "AMD RDNA3"},
	{"rdna4", "gfx12", "AMD RDNA4"},
	{"wormhole", "tt-wh", "Tenstorrent Wormhole (n150, n300)"},
	{"blackhole", "tt-bh", "Tenstorrent Blackhole (p100, p150)"},
	{"x86", "x86-64", "x86 processors of Intel (a Xeon with AMX)"},
	{"zen4", "znver4", "x86 processors of AMD (Zen 4, Zen 5)"},
	{"arm", "aarch64", "Arm processors"},
	{"power10", "ppc64le", "IBM POWER10"},
	{"riscv", "rv64", "RISC-V vector dot products"},
	{"llvmpipe", "lavapipe", "Mesa's Vulkan driver on the processor"},
}

// archAliases are other names of architectures.
var archAliases = map[string]string{
	"sm70": "volta", "sm75": "turing", "sm80": "ampere", "sm86": "ampere", "sm_86": "ampere",
	"sm89": "ada", "sm90": "hopper", "sm_90a": "hopper", "sm90a": "hopper", "sm100": "blackwell", "sm_100a": "blackwell",
	"sm103": "blackwell-ultra", "sm110": "thor", "sm120": "rtx-blackwell", "sm_120a": "rtx-blackwell", "sm121": "gb10",
	"v100": "volta", "t4": "turing", "a100": "ampere", "h100": "hopper", "h200": "hopper", "b200": "blackwell",
	"a2": "ampere", "l40s": "ada", "rtx 4090": "ada", "rtx4090": "ada", "rtx 5090": "rtx-blackwell", "rtx5090": "rtx-blackwell",
	"gh200": "hopper", "gb200": "blackwell", "b300": "blackwell-ultra", "gb300": "blackwell-ultra",
	"mi100": "cdna1", "mi210": "cdna2", "mi250": "cdna2", "mi250x": "cdna2", "mi300": "cdna3", "mi300a": "cdna3", "mi300x": "cdna3", "mi325x": "cdna3",
	"mi350": "cdna4", "mi350x": "cdna4", "mi355x": "cdna4",
	"x86_64": "x86", "amd64": "x86", "arm64": "arm", "power": "power10", "riscv64": "riscv",
	"gfx1100": "rdna3", "gfx1101": "rdna3", "gfx1102": "rdna3", "gfx1103": "rdna3",
	"gfx1150": "rdna3", "gfx1151": "rdna3", "gfx1152": "rdna3", "gfx1153": "rdna3",
	"gfx1200": "rdna4", "gfx1201": "rdna4",
}

// FindArch returns the architecture of a name, a chip name or an alias, such as H100, in letters of
// either case.
func FindArch(name string) (Arch, bool) {
	name = strings.ToLower(name)
	if a, ok := archAliases[name]; ok {
		name = a
	}
	for _, a := range Archs {
		if a.Name == name || a.Chip == name {
			return a, true
		}
	}
	return Arch{}, false
}
