package sass

// opcode is a row of the table. It matches an instruction whose bits under the masks have
// the row's values.
type opcode struct {
	name      string // the mnemonic without its modifiers, except for SF and 4
	low, mask uint64 // of the first 8 bytes; mask 0 stands for the low 12 bits
	high, hm  uint64 // of the last 8 bytes: value and mask
}

// The masks of the instructions of tensor memory, which differ in the kind of operands.
const (
	tensorMemory = 0x8000_0000_0000_0fff // FP4 with scales has the highest bit
	kind         = 0x300                 // of the last 8 bytes
	fourBits     = 0x18_0000             // of the last 8 bytes, of IMMA
)

// opcodes has matrix instructions, and the instructions that emulate them. They were
// confirmed with nvdisasm 13.5 on code of ptxas 12.9 and 13.5 for sm_75 to sm_121, IMMA.4 being
// IMMA with operands of 4 bits; HMMA.884
// of sm_70 by how often it occurs in code for that chip.
var opcodes = []opcode{
	{name: "HMMA", low: 0x236}, // HMMA.884: Volta and Turing
	{name: "HMMA", low: 0x23c},
	{name: "DMMA", low: 0x23f},
	{name: "IMMA.4", low: 0x237, high: fourBits, hm: fourBits},
	{name: "IMMA", low: 0x237},
	{name: "BMMA", low: 0x23d},
	{name: "QMMA", low: 0x27a},
	{name: "QMMA.SF", low: 0x47a},
	{name: "OMMA.SF", low: 0x47f},
	{name: "HGMMA", low: 0x9f0},
	{name: "HGMMA", low: 0xdf0}, // A in registers
	{name: "QGMMA", low: 0x9f3},
	{name: "QGMMA", low: 0xdf3},
	{name: "IGMMA", low: 0x9f1},
	{name: "IGMMA", low: 0xdf1},
	{name: "UTCHMMA", low: 0x5ea, mask: tensorMemory, high: 0, hm: kind},
	{name: "UTCIMMA", low: 0x5ea, mask: tensorMemory, high: 0x100, hm: kind},
	{name: "UTCQMMA", low: 0x5ea, mask: tensorMemory, high: kind, hm: kind},
	{name: "UTCQMMA", low: 0xdea, mask: 0xfff, high: kind, hm: kind}, // with scales
	{name: "UTCOMMA", low: 0x8000_0000_0000_05ea, mask: tensorMemory},
	{name: "FFMA", low: 0x223},
	{name: "FMUL", low: 0x220},
	{name: "FADD", low: 0x221},
	{name: "HADD2", low: 0x230},
	{name: "F2FP", low: 0x23e},
}

// mnemonic returns the name of an instruction, "" if it is not in the table.
func mnemonic(low, high uint64) string {
	for i := range opcodes {
		o := &opcodes[i]
		mask := o.mask
		if mask == 0 {
			mask = 0xfff
		}
		if low&mask == o.low && high&o.hm == o.high {
			return o.name
		}
	}
	return ""
}
