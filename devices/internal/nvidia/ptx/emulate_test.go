package ptx_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// An emulator of the PTX that this package writes: enough instructions to execute
// the kernels' text thread by thread, so that addresses, guards, loops and the
// order of registers are tested without a GPU. The matrix instructions are in
// emulate_mma_test.go.

// The device addresses of a launch's buffers.
const (
	inAddress  = 0x1_0000_0000
	outAddress = 0x2_0000_0000
)

// statement is an instruction.
type statement struct {
	guard  string // register of the predicate, "" for none
	negate bool
	op     string
	args   []string
}

// program is a parsed module.
type program struct {
	code    []statement
	labels  map[string]int
	shared  map[string]int // offsets of variables
	size    int            // of shared memory
	threads int
}

// parse reads a module with one entry.
func parse(source string) (*program, error) {
	p := &program{labels: map[string]int{}, shared: map[string]int{}}
	_, body, ok := strings.Cut(source, "\n{\n")
	if !ok {
		return nil, fmt.Errorf("no body")
	}
	if _, err := fmt.Sscanf(source[strings.Index(source, ".reqntid"):], ".reqntid %d", &p.threads); err != nil {
		return nil, err
	}
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line == "}" || strings.HasPrefix(line, "//") || strings.HasPrefix(line, ".reg"):
		case strings.HasPrefix(line, ".shared"):
			p.variable(strings.TrimSuffix(line, ";"))
		case strings.HasSuffix(line, ":"):
			p.labels[line[:len(line)-1]] = len(p.code)
		case strings.HasSuffix(line, ";"):
			p.code = append(p.code, parseStatement(line[:len(line)-1]))
		default:
			return nil, fmt.Errorf("%q is no statement", line)
		}
	}
	return p, nil
}

// variable places a variable such as .shared .align 128 .b8 name[4096].
func (p *program) variable(line string) {
	words := strings.Fields(line)
	align, _ := strconv.Atoi(words[2])
	bits, _ := strconv.Atoi(words[3][2:])
	name, rest, array := strings.Cut(words[4], "[")
	n := 1
	if array {
		n, _ = strconv.Atoi(strings.TrimSuffix(rest, "]"))
	}
	p.size = (p.size + align - 1) / align * align
	p.shared[name] = p.size + 1024 // shared memory does not begin at 0
	p.size += n * bits / 8
}

func parseStatement(line string) statement {
	var s statement
	if strings.HasPrefix(line, "@") {
		s.guard, line, _ = strings.Cut(line[1:], " ")
		s.guard, s.negate = strings.TrimPrefix(s.guard, "!"), strings.HasPrefix(s.guard, "!")
	}
	var rest string
	s.op, rest, _ = strings.Cut(line, " ")
	depth, from := 0, 0
	for i, c := range rest + "," {
		switch c {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			if depth == 0 && i > from {
				s.args = append(s.args, strings.TrimSpace(rest[from:i]))
				from = i + 1
			}
		}
	}
	return s
}

// thread is one thread of a block.
type thread struct {
	id    int
	regs  map[string]uint64
	pc    int
	done  bool
	wrote int // what it has written to shared memory: 0 nothing new, 1 written, 2 fenced
}

// block is a block under way.
type block struct {
	*program
	index, blocks int
	tiles         int
	in, out       []byte
	memory        []byte // shared
	threads       []*thread
	matrix        matrixUnit
	err           error
}

// launch runs all blocks.
func (p *program) launch(blocks, tiles int, in, out []byte, unit func() matrixUnit) error {
	for i := range blocks {
		b := &block{program: p, index: i, blocks: blocks, tiles: tiles, in: in, out: out, memory: make([]byte, p.size+1024), matrix: unit()}
		for id := range p.threads {
			b.threads = append(b.threads, &thread{id: id, regs: map[string]uint64{}})
		}
		if err := b.run(); err != nil {
			return fmt.Errorf("block %d: %w", i, err)
		}
	}
	return nil
}

// run runs each thread up to the next instruction that several execute together,
// executes that, and so on.
func (b *block) run() error {
	for range 10000 {
		live := 0
		for _, t := range b.threads {
			for !t.done && b.err == nil && b.step(t) {
			}
			if b.err != nil {
				return fmt.Errorf("thread %d: %v: %w", t.id, b.code[min(t.pc, len(b.code)-1)], b.err)
			}
			if !t.done {
				live++
			}
		}
		if live == 0 {
			return b.matrix.finish(b)
		}
		if err := b.together(); err != nil {
			return err
		}
	}
	return fmt.Errorf("it does not end")
}

// isCollective reports whether several threads execute an instruction together.
func isCollective(op string) bool {
	return strings.HasPrefix(op, "bar.") || strings.Contains(op, ".sync.aligned")
}

// group returns the threads that execute an instruction together: a warp, or the
// block.
func (b *block) group(t *thread, op string) []*thread {
	if strings.HasPrefix(op, "bar.") || strings.HasPrefix(op, "wgmma.") {
		return b.threads
	}
	return b.threads[t.id/32*32 : t.id/32*32+32]
}

// together executes the instructions at which whole groups have arrived.
func (b *block) together() error {
	moved := false
	for _, t := range b.threads {
		if t.done {
			continue
		}
		s := &b.code[t.pc]
		g := b.group(t, s.op)
		if !isCollective(s.op) || g[0] != t || slices.ContainsFunc(g, func(o *thread) bool { return o.done || o.pc != t.pc }) {
			continue
		}
		moved = true
		if err := b.collective(g, s); err != nil {
			return fmt.Errorf("%s %s: %w", s.op, strings.Join(s.args, ", "), err)
		}
		for _, o := range g {
			o.pc++
		}
	}
	for _, t := range b.threads {
		moved = moved || !t.done && strings.HasPrefix(b.code[t.pc].op, "mbarrier.try_wait") && b.matrix.arrived()
	}
	if !moved {
		return fmt.Errorf("threads wait for each other")
	}
	return nil
}

func (b *block) collective(g []*thread, s *statement) error {
	if s.op == "bar.sync" {
		for _, t := range g {
			if t.wrote == 2 {
				t.wrote = 0
			}
		}
		return nil
	}
	return b.matrix.execute(b, g, s)
}

// visible requires that what threads have written to shared memory can be seen by
// the matrix unit: fenced, and a barrier after that.
func (b *block) visible() error {
	for _, t := range b.threads {
		if t.wrote != 0 {
			return fmt.Errorf("thread %d has written to shared memory without fence.proxy.async and bar.sync", t.id)
		}
	}
	return nil
}

// step executes an instruction of one thread; false: several must do it together,
// or it must wait.
func (b *block) step(t *thread) bool {
	s := &b.code[t.pc]
	if s.guard != "" && (t.regs[s.guard] == 1) == s.negate {
		t.pc++
		return true
	}
	family, _, _ := strings.Cut(s.op, ".")
	switch family {
	case "ret":
		t.done = true
		return true
	case "bra":
		t.pc = b.labels[s.args[0]]
		return true
	case "bar", "mma", "wmma", "wgmma":
		if !isCollective(s.op) {
			b.err = fmt.Errorf("unknown instruction")
		}
		return false
	case "tcgen05", "mbarrier", "fence":
		return b.asynchronous(t, s)
	case "ld", "st":
		b.access(t, s)
	default:
		b.compute(t, s, family)
	}
	t.pc++
	return true
}

// asynchronous executes what has to do with the asynchronous proxy and with tensor
// memory, if a single thread can.
func (b *block) asynchronous(t *thread, s *statement) bool {
	switch {
	case s.op == "fence.proxy.async.shared::cta":
		if t.wrote == 1 {
			t.wrote = 2
		}
	case strings.HasPrefix(s.op, "fence.mbarrier_init"), strings.HasPrefix(s.op, "tcgen05.fence"):
	case isCollective(s.op):
		return false
	default:
		ok, err := b.matrix.single(b, t, s)
		b.err = err
		if !ok {
			return false
		}
	}
	t.pc++
	return true
}

// value reads an operand.
func (b *block) value(t *thread, arg string) uint64 {
	switch arg {
	case "%tid.x":
		return uint64(t.id)
	case "%ctaid.x":
		return uint64(b.index)
	case "%nctaid.x":
		return uint64(b.blocks)
	}
	if strings.HasPrefix(arg, "%") {
		v, ok := t.regs[arg]
		if !ok && b.err == nil {
			b.err = fmt.Errorf("%s is not set", arg)
		}
		return v
	}
	if at, ok := b.shared[arg]; ok {
		return uint64(at)
	}
	v, err := strconv.ParseUint(arg, 0, 64)
	if err != nil && b.err == nil {
		b.err = err
	}
	return v
}

// compute executes an instruction on registers.
func (b *block) compute(t *thread, s *statement, family string) {
	var v [4]uint64
	for i, arg := range s.args[1:] {
		v[i] = b.value(t, arg)
	}
	r, wide := uint64(0), strings.HasSuffix(s.op, "64") || strings.HasPrefix(s.op, "mad.wide") || strings.HasPrefix(s.op, "cvt")
	switch family {
	case "mov", "cvta", "cvt":
		r = v[0]
	case "add":
		r = v[0] + v[1]
	case "sub":
		r = v[0] - v[1]
	case "mad":
		r = v[0]*v[1] + v[2]
	case "and":
		r = v[0] & v[1]
	case "or":
		r = v[0] | v[1]
	case "xor":
		r = v[0] ^ v[1]
	case "shl":
		r = v[0] << v[1]
	case "shr":
		r = v[0] >> v[1]
	case "min":
		r = min(v[0], v[1])
	case "bfe":
		r = v[0] >> v[1] & (1<<v[2] - 1)
	case "setp":
		r = compare(s.op, v[0], v[1])
	default:
		b.err = fmt.Errorf("unknown instruction")
	}
	if !wide {
		r = uint64(uint32(r))
	}
	t.regs[s.args[0]] = r
}

func compare(op string, x, y uint64) uint64 {
	holds := map[string]bool{"ne": x != y, "ge": x >= y, "lt": x < y}[strings.Split(op, ".")[1]]
	if holds {
		return 1
	}
	return 0
}

// address splits [base+offset].
func (b *block) address(t *thread, arg string) uint64 {
	base, offset, _ := strings.Cut(strings.Trim(arg, "[]"), "+")
	at := b.value(t, base)
	if offset != "" {
		at += b.value(t, offset)
	}
	return at
}

// span returns the bytes at an address of a launch's buffers or of shared memory.
func (b *block) span(op string, at uint64, n int) []byte {
	buf := b.memory
	switch {
	case strings.Contains(op, ".shared"):
	case at >= outAddress:
		buf, at = b.out, at-outAddress
	case at >= inAddress:
		buf, at = b.in, at-inAddress
	default:
		buf = nil
	}
	if at+uint64(n) > uint64(len(buf)) || at%uint64(n) != 0 {
		b.err = fmt.Errorf("access to %d bytes at %#x", n, at)
		return make([]byte, n)
	}
	return buf[at : at+uint64(n)]
}

// access executes a load or store.
func (b *block) access(t *thread, s *statement) {
	if strings.HasPrefix(s.op, "ld.param") {
		t.regs[s.args[0]] = map[string]uint64{"[in]": inAddress, "[out]": outAddress, "[tiles]": uint64(b.tiles)}[s.args[1]]
		return
	}
	place, data := s.args[1], s.args[0]
	if strings.HasPrefix(s.op, "st") {
		place, data = data, place
	}
	regs := list(data)
	n := 4
	if strings.HasSuffix(s.op, "64") {
		n = 8
	}
	bytes := b.span(s.op, b.address(t, place), n*len(regs))
	for i, r := range regs {
		word := bytes[i*n:][:n]
		switch {
		case strings.HasPrefix(s.op, "ld") && n == 8:
			t.regs[r] = binary.LittleEndian.Uint64(word)
		case strings.HasPrefix(s.op, "ld"):
			t.regs[r] = uint64(binary.LittleEndian.Uint32(word))
		case n == 8:
			binary.LittleEndian.PutUint64(word, b.value(t, r))
		default:
			binary.LittleEndian.PutUint32(word, uint32(b.value(t, r)))
		}
	}
	if strings.HasPrefix(s.op, "st.shared") {
		t.wrote = 1
	}
}

// list splits {%a0, %a1}; a single register is a list of one.
func list(arg string) []string {
	words := strings.Split(strings.Trim(arg, "{}"), ",")
	for i := range words {
		words[i] = strings.TrimSpace(words[i])
	}
	return words
}
