package sass

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// words are instructions as a disassembler shows them.
var words = []struct {
	text      string
	low, high uint64
	want      string
}{
	{"HMMA.884.F32.F32.STEP0 R4, R14.ROW, R16.COL, R4 (sm_75)", 0x0000001004040236, 0x0000000000000000, "HMMA"},
	{"HMMA.16816.F32 R4, R4, R16, R8 (sm_90)", 0x000000100404723c, 0x004fee0000001808, "HMMA"},
	{"DMMA.884 R4, R8, R10, R4 (sm_80)", 0x0000000a0804723f, 0, "DMMA"},
	{"HGMMA.64x8x16.F32 R24, gdesc[UR4], R24, gsb0 (sm_90a)", 0x00000000041879f0, 0x000fe20008000818, "HGMMA"},
	{"QGMMA.64x8x32.F32.E4M3.E4M3 R24, gdesc[UR4], R24, gsb0 (sm_90a)", 0x00000000041879f3, 0x000fe20008000818, "QGMMA"},
	{"@!UP1 UTCHMMA gdesc[UR8], gdesc[UR10], tmem[UR17], tmem[UR12], idesc[UR13], UPT (sm_100a)", 0x00ff0c0a080095ea, 0x0005e6000b800011, "UTCHMMA"},
	{"@!UP1 UTCQMMA gdesc[UR8], gdesc[UR10], tmem[UR17], tmem[UR12], idesc[UR13], UPT (sm_100a)", 0x00ff0c0a080095ea, 0x0005e6000b800311, "UTCQMMA"},
	{"@!UP1 UTCQMMA gdesc[UR8], gdesc[UR10], tmem[UR17], tmem[UR12], idesc[UR13], tmem[UR18], UPT (sm_100a)", 0x00120c0a08009dea, 0x0005e6000b800311, "UTCQMMA"},
	{"@!UP1 UTCOMMA gdesc[UR8], gdesc[UR10], tmem[UR17], tmem[UR12], idesc[UR13], tmem[UR18], UPT (sm_100a)", 0xc0120c0a080095ea, 0x0005e6000b800011, "UTCOMMA"},
	{"@!UP1 UTCOMMA.4X gdesc[UR8], gdesc[UR10], tmem[UR17], tmem[UR12], idesc[UR13], tmem[UR18], UPT (sm_100a)", 0x80120c0a080095ea, 0x0005e6000b800011, "UTCOMMA"},
	{"IMMA.8816.S8.U8 R10, R6.ROW, R9.COL, R10 (sm_75)", 0x00000009060a7237, 0x004e34000000140a, "IMMA"},
	{"IMMA.SP.16864.U8.S8.SAT R4, R4.ROW, R8.COL, R12, R0, 0x0 (sm_80)", 0x0000000804047237, 0x004fee000064450c, "IMMA"},
	{"IMMA.16832.S4.S4 R4, R12.ROW, R0.COL, R4 (sm_80)", 0x000000000c047237, 0x004fe20000585c04, "IMMA.4"},
	{"@!UP1 UTCIMMA gdesc[UR8], gdesc[UR10], tmem[UR17], tmem[UR12], idesc[UR13], UPT (sm_100a)", 0x00ff0c0a080095ea, 0x0005e6000b800111, "UTCIMMA"},
	{"NOP", 0x0000000000007918, 0x000fc00000000000, ""},
	{"EXIT", 0x000000000000794d, 0x000fea0003800000, ""},
}

func TestMnemonic(t *testing.T) {
	for _, w := range words {
		if got := mnemonic(w.low, w.high); got != w.want {
			t.Errorf("%s: %q, want %q", w.text, got, w.want)
		}
	}
}

// TestTable requires that no two rows name the same instruction differently.
func TestTable(t *testing.T) {
	for _, o := range opcodes {
		if got := mnemonic(o.low, o.high); got != o.name {
			t.Errorf("the row of %s is hidden by that of %s", o.name, got)
		}
	}
}

// object makes an ELF file of sections of code.
func object(machine elf.Machine, sections map[string][]byte) []byte {
	names := bytes.NewBuffer([]byte{0})
	var body bytes.Buffer
	headers := []elf.Section64{{}}
	add := func(name string, kind elf.SectionType, data []byte) {
		headers = append(headers, elf.Section64{Name: uint32(names.Len()), Type: uint32(kind), Off: 64 + uint64(body.Len()), Size: uint64(len(data))})
		names.WriteString(name + "\x00")
		body.Write(data)
	}
	for name, data := range sections {
		add(name, elf.SHT_PROGBITS, data)
	}
	add(".shstrtab", elf.SHT_STRTAB, append(names.Bytes(), ".shstrtab\x00"...))
	h := elf.Header64{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_EXEC), Machine: uint16(machine), Version: 1, Shoff: 64 + uint64(body.Len()),
		Ehsize: 64, Shentsize: 64, Shnum: uint16(len(headers)), Shstrndx: uint16(len(headers) - 1),
	}
	var file bytes.Buffer
	for _, part := range []any{h, body.Bytes(), headers} {
		if err := binary.Write(&file, binary.LittleEndian, part); err != nil {
			panic(err)
		}
	}
	return file.Bytes()
}

func code(texts ...string) []byte {
	var b []byte
	for _, text := range texts {
		for _, w := range words {
			if strings.HasPrefix(w.text, text) {
				b = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, w.low), w.high)
				break
			}
		}
	}
	return b
}

func TestScan(t *testing.T) {
	file := object(elf.EM_CUDA, map[string][]byte{
		".text.a":   code("HMMA.16816", "NOP", "HMMA.884", "HGMMA", "EXIT"),
		".text.b":   append(code("HMMA.16816"), 1, 2, 3), // a tail that is no instruction
		".nv.info":  code("QGMMA"),
		".text":     code("QGMMA"), // not a function's
		".nv.const": nil,
	})
	got, err := Scan(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Counts{"HMMA": 3, "HGMMA": 1}, got); diff != "" {
		t.Error(diff)
	}
	if s := got.String(); s != "HMMA 3, HGMMA 1" {
		t.Errorf("%q", s)
	}
	functions, err := Functions(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]Counts{"a": {"HMMA": 2, "HGMMA": 1}, "b": {"HMMA": 1}}, functions); diff != "" {
		t.Error(diff)
	}
	file[20] = 0x81 // as ptxas 12.9 has it
	if again, err := Scan(file); err != nil || !cmp.Equal(again, got) {
		t.Errorf("with the toolkit's version: %v, %v", again, err)
	}
}

func TestScanErrors(t *testing.T) {
	good := object(elf.EM_CUDA, map[string][]byte{".text.a": code("NOP")})
	for _, tc := range []struct {
		name string
		file []byte
		want string
	}{
		{"nothing", nil, "machine code: "},
		{"text", []byte(".version 7.0\n.target sm_80\n"), "machine code: bad magic number"},
		{"cut", good[:len(good)-70], "machine code: "},
		{"another machine", object(elf.EM_X86_64, map[string][]byte{".text.a": code("NOP")}), "machine code: the file is for EM_X86_64, not for a CUDA device"},
		{"no code", object(elf.EM_CUDA, nil), "machine code: the file has no .text section"},
	} {
		if _, err := Scan(tc.file); err == nil || !strings.HasPrefix(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %s", tc.name, err, tc.want)
		}
	}
}

func TestVerdict(t *testing.T) {
	for _, tc := range []struct {
		counts Counts
		needs  string
		want   string
	}{
		{Counts{"QGMMA": 1}, "^QGMMA", "native (QGMMA 1)"},
		{Counts{"HMMA": 2, "FADD": 4, "F2FP": 12}, "^QMMA", "emulated (HMMA 2, FADD 4, F2FP 12)"},
		{Counts{"QMMA.SF": 1}, "^QMMA", "native (QMMA.SF 1)"},
		{Counts{"HGMMA": 1}, "^HMMA", "emulated (HGMMA 1)"},
		{Counts{}, "^HMMA", "emulated (no instruction of arithmetic that is known)"},
		{Counts{"HMMA": 1}, "", "emulated (HMMA 1)"},
	} {
		if got := tc.counts.Verdict(tc.needs); got != tc.want {
			t.Errorf("%v, %s: %s, want %s", tc.counts, tc.needs, got, tc.want)
		}
	}
}

func FuzzScan(f *testing.F) {
	f.Add(object(elf.EM_CUDA, map[string][]byte{".text.a": code("HMMA.16816", "NOP")}))
	f.Fuzz(func(t *testing.T, file []byte) {
		if counts, err := Scan(file); err == nil {
			_ = counts.String()
		}
	})
}
