package exec_test

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"strings"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/exec/child"
	"github.com/mmafuzz/mmafuzz/devices/exec/internal/wire"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// The test binary is its own child: started with an argument @MODE it behaves as
// that mode says.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "@") {
		os.Exit(runChild(os.Args[1][1:], os.Args[2:]))
	}
	os.Exit(checked(m))
}

// command returns the target's name of a child.
func command(mode string, args ...string) string {
	return strings.Join(append([]string{"exec:'" + os.Args[0] + "'", "@" + mode}, args...), " ")
}

const (
	inst = "mma.m16n8k8.f32.f16.f16.f32"
)

// hello is the header of most children. Those that are meant to run into their
// deadline have a short one.
func hello(mode string) string {
	deadline := "1m"
	switch os.Args[1][1:] {
	case "hang", "stalls", "kin", "t-hang", "t-part":
		deadline = "300ms"
	}
	return "mmafuzz-exec 1 " + mode + "\ninstruction " + inst + "\ndeadline " + deadline + "\nready\n"
}

// poison is an element of A that makes some children fail.
const poison = 0x1234

// good returns an instruction that the simulator of an architecture computes.
func good(arch, name string, change func(*mma.Params)) child.Instruction {
	i, err := mma.Lookup(arch, name)
	if err != nil {
		panic(err)
	}
	p := i.Params
	if change != nil {
		change(&p)
	}
	m, err := sim.New(i.Formats, i.K, p)
	if err != nil {
		panic(err)
	}
	return child.Instruction{Name: i.FullName(), Formats: i.Formats, K: i.K,
		Run: func(in *mma.Batch, out []byte) error { m.Run(in, out); return nil }}
}

// onPoison returns a good instruction that does something else first if an
// element of A is poison.
func onPoison(do func() error) child.Instruction {
	i := good("ampere", inst, nil)
	run := i.Run
	i.Run = func(in *mma.Batch, out []byte) error {
		for n := range len(in.A) / 2 {
			if mma.Load(in.A, 2, n) == poison {
				if err := do(); err != nil {
					return err
				}
			}
		}
		return run(in, out)
	}
	return i
}

// onFirst returns a good instruction that does something else if the first
// elements of an input are of a kind.
func onFirst(do func() error) child.Instruction {
	i := good("ampere", inst, nil)
	run := i.Run
	i.Run = func(in *mma.Batch, out []byte) error {
		d := mma.NewDot(in.Formats, in.K)
		for n := range in.Dots() {
			if in.Get(n, d); d.A[0]&0x3f == 33 && d.B[0]&7 == 7 {
				if err := do(); err != nil {
					return err
				}
			}
		}
		return run(in, out)
	}
	return i
}

// children that are written with the helper package.
var helped = map[string]func() (child.Options, []child.Instruction){
	"good": func() (child.Options, []child.Instruction) {
		return child.Options{About: map[string]string{"simulator": "sim"}}, []child.Instruction{
			good("ampere", inst, nil),
			good("rtx-blackwell", "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3", nil),
			good("hopper", "wgmma.m64n8k32.f32.e4m3.e4m3.c0", nil),
		}
	},
	"wide": func() (child.Options, []child.Instruction) {
		return child.Options{}, []child.Instruction{good("ampere", inst, func(p *mma.Params) { p.Join.Align.F++ })}
	},
	"prints": func() (child.Options, []child.Instruction) { // as C libraries do, whatever os.Stdout is
		i := good("ampere", inst, nil)
		run, one := i.Run, os.NewFile(1, "descriptor 1")
		i.Run = func(in *mma.Batch, out []byte) error {
			fmt.Fprintln(one, "a kernel was run")
			return run(in, out)
		}
		return child.Options{}, []child.Instruction{i}
	},
	"tiles": func() (child.Options, []child.Instruction) { // takes tiles of some sizes only, few at a time
		i := good("ampere", inst, nil)
		i.Name, i.M, i.N = "mine", mma.Range{Min: 3, Max: 3, Step: 1}, mma.Range{Min: 2, Max: 6, Step: 2}
		run := i.Run
		i.Run = func(in *mma.Batch, out []byte) error {
			if in.M != 3 || in.N%2 != 0 || in.N > 6 || in.Dots() > 40 {
				return fmt.Errorf("%d tiles of %dx%d", in.Tiles, in.M, in.N)
			}
			return run(in, out)
		}
		return child.Options{Batch: 40, Children: 1}, []child.Instruction{i}
	},
	// picky and fragile cannot take an input whose first element of A ends in 33
	// and B in 7.
	"picky": func() (child.Options, []child.Instruction) {
		return child.Options{}, []child.Instruction{onFirst(func() error { return errors.New("assertion failed") })}
	},
	"fragile": func() (child.Options, []child.Instruction) {
		return child.Options{}, []child.Instruction{onFirst(func() error { os.Exit(1); return nil })}
	},
	// learned says more of its instruction with every request, and broken ends on
	// poison.
	"learned": func() (child.Options, []child.Instruction) {
		i := good("ampere", inst, nil)
		run, n := i.Run, 0
		i.Run = func(in *mma.Batch, out []byte) error { n++; return run(in, out) }
		i.About = func() map[string]string {
			about := map[string]string{"code": "HMMA, native", "requests": fmt.Sprint(n)}
			if n > 2 {
				about["requests"] = "many"
			}
			return about
		}
		return child.Options{Children: 1}, []child.Instruction{i, good("hopper", "wgmma.m64n8k32.f32.e4m3.e4m3.c0", nil)}
	},
	"empty": func() (child.Options, []child.Instruction) {
		return child.Options{}, []child.Instruction{onPoison(func() error {
			return fmt.Errorf("launch: %w", child.Other(errors.New("out of memory")))
		})}
	},
	"broken": func() (child.Options, []child.Instruction) {
		return child.Options{}, []child.Instruction{onPoison(func() error {
			return fmt.Errorf("launch: %w", child.Broken(errors.New("error 700: the context is dead")))
		})}
	},
	"worse": func() (child.Options, []child.Instruction) {
		wide := good("ampere", inst, func(p *mma.Params) { p.Join.Align.F++ })
		run := wide.Run
		wide.Run = func(in *mma.Batch, out []byte) error {
			d := mma.NewDot(in.Formats, in.K)
			for n := range in.Dots() {
				if in.Get(n, d); d.A[7]&0xff == 3 || d.A[1]|d.A[2]|d.A[3] == 0 && d.A[0] == 0x3c00 {
					os.Exit(1)
				}
			}
			return run(in, out)
		}
		return child.Options{}, []child.Instruction{wide}
	},
	"refuse": func() (child.Options, []child.Instruction) {
		return child.Options{}, []child.Instruction{onPoison(func() error { return errors.New("poison:\tassertion failed") })}
	},
	"panic": func() (child.Options, []child.Instruction) {
		return child.Options{}, []child.Instruction{onPoison(func() error { panic("poison") })}
	},
	"crash": func() (child.Options, []child.Instruction) {
		return child.Options{}, []child.Instruction{onPoison(func() error {
			fmt.Println("this print goes to stderr")
			fmt.Fprintln(os.Stderr, "fatal: poison")
			os.Exit(3)
			return nil
		})}
	},
	"stuck": func() (child.Options, []child.Instruction) {
		return child.Options{Deadline: 300 * time.Millisecond}, []child.Instruction{onPoison(func() error { time.Sleep(time.Hour); return nil })}
	},
	"mortal": func() (child.Options, []child.Instruction) { // dies after some requests
		i := good("ampere", inst, nil)
		run, n := i.Run, 0
		i.Run = func(in *mma.Batch, out []byte) error {
			if n++; n > 3 {
				os.Exit(1)
			}
			return run(in, out)
		}
		return child.Options{}, []child.Instruction{i}
	},
	"lives": func() (child.Options, []child.Instruction) { // dies after some dot products
		i := good("ampere", inst, nil)
		run, n := i.Run, 0
		i.Run = func(in *mma.Batch, out []byte) error {
			if n += in.Dots(); n > lifetime {
				os.Exit(1)
			}
			return run(in, out)
		}
		return child.Options{}, []child.Instruction{i}
	},
	"zero": func() (child.Options, []child.Instruction) { // computes nothing, for benchmarks
		i := good("hopper", "mma.m16n8k16.f32.f16.f16.f32", nil)
		i.Run = func(*mma.Batch, []byte) error { return nil }
		return child.Options{}, []child.Instruction{i}
	},
	"zero4": func() (child.Options, []child.Instruction) { // the same for a small unit
		return child.Options{}, []child.Instruction{{Name: "dot4", K: 4, Formats: mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32},
			Run: func(*mma.Batch, []byte) error { return nil }}}
	},
	"sim": func() (child.Options, []child.Instruction) {
		return child.Options{}, []child.Instruction{good("hopper", "mma.m16n8k16.f32.f16.f16.f32", nil)}
	},
}

// Children that do it wrong, unless a request is a single dot product: they answer
// the first one, of zeros.
var bad = map[string]func(q *wire.Request, right []byte){
	"exit0":   func(*wire.Request, []byte) { os.Exit(0) },
	"exit3":   func(*wire.Request, []byte) { fmt.Fprint(os.Stderr, "one\ntwo\nlast words\n"); os.Exit(3) },
	"hang":    func(*wire.Request, []byte) { time.Sleep(time.Hour) },
	"oops":    func(*wire.Request, []byte) { fmt.Print("oops"); time.Sleep(time.Hour) },
	"nearly":  func(*wire.Request, []byte) { fmt.Print("mmaX and more"); time.Sleep(time.Hour) },
	"short":   func(_ *wire.Request, right []byte) { os.Stdout.Write(right[:len(right)-3]); os.Exit(0) },
	"stalls":  func(_ *wire.Request, right []byte) { os.Stdout.Write(right[:7]); time.Sleep(time.Hour) },
	"long":    func(_ *wire.Request, right []byte) { os.Stdout.Write(append(right, "and more"...)) },
	"closes":  func(*wire.Request, []byte) { os.Stdout.Close(); time.Sleep(time.Hour) },
	"id":      func(q *wire.Request, right []byte) { patch(right, 0, q.ID+1) },
	"status":  func(_ *wire.Request, right []byte) { patch(right, 1, 7) },
	"length":  func(_ *wire.Request, right []byte) { patch(right, 2, 0xffffffff) },
	"less":    func(_ *wire.Request, right []byte) { patch(right, 2, 0) },
	"sum":     func(_ *wire.Request, right []byte) { patch(right, 3, 1) },
	"essay":   func(_ *wire.Request, right []byte) { patch(right[:4+4+4], 1, wire.StatusError); write32(1<<30, 0) },
	"flood":   func(*wire.Request, []byte) { flood(os.Stdout, "flood ") },
	"talks":   func(q *wire.Request, _ []byte) { about(q, "x y", 100) },
	"babbles": func(q *wire.Request, _ []byte) { about(q, strings.Repeat("x", 5000), 1) },
	"mumbles": func(q *wire.Request, _ []byte) { about(q, "one-word", 1) },
	"learns":  func(q *wire.Request, _ []byte) { about(q, "x y", 1); os.Exit(0) },
	"kin":     func(*wire.Request, []byte) { kin(); time.Sleep(time.Hour) },
	"kinexit": func(*wire.Request, []byte) { kin(); os.Exit(4) },
	"chatty": func(_ *wire.Request, right []byte) {
		fmt.Fprint(os.Stderr, strings.Repeat("blah ", 1<<20), "\n\x1b[31m\xff\n")
		os.Stdout.Write(right)
	},
}

// about writes texts about the instruction, each with a word of its own.
func about(q *wire.Request, text string, times int) {
	for n := range times {
		body := text
		if times > 1 {
			body = fmt.Sprint(n, text)
		}
		a := wire.Answer{ID: q.ID, Status: wire.StatusAbout, Length: uint32(len(body)), Checksum: wire.Checksum(0, []byte(body))}
		os.Stdout.Write(append(a.Append(nil), body...))
	}
}

// patch writes an answer with one of its numbers changed.
func patch(right []byte, field int, v uint32) {
	binary.LittleEndian.PutUint32(right[4+4*field:], v)
	os.Stdout.Write(right)
}

func write32(vs ...uint32) { binary.Write(os.Stdout, binary.LittleEndian, vs) }

func flood(w io.Writer, text string) {
	for {
		if _, err := io.WriteString(w, text); err != nil {
			return
		}
	}
}

// kin starts a process that holds stdout and stderr open and never ends, and
// writes its number to a file.
func kin() {
	cmd := osexec.Command(os.Args[0], "@sleep")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	os.WriteFile(os.Args[2], fmt.Append(nil, cmd.Process.Pid), 0o666)
}

// Children that do not get as far as a request.
var greetings = map[string]func(){
	"none":    func() { fmt.Fprintln(os.Stderr, "no licence"); os.Exit(5) },
	"mute":    func() { time.Sleep(time.Hour) },
	"chatter": func() { fmt.Print("Loading design...\n"); time.Sleep(time.Hour) },
	"prompt":  func() { fmt.Print("> "); time.Sleep(time.Hour) },
	"cut":     func() { fmt.Print("mmafuzz-exec 1 binary\ninstruction " + inst + "\n") },
	"version": func() { fmt.Print("mmafuzz-exec 2 binary\nready\n") },
	"upset": func() {
		fmt.Print("mmafuzz-exec 1 text\ninstruction x a=fp17 b=fp16 c=fp32 d=fp32 k=4\n")
		fmt.Fprintln(os.Stderr, "4 elements")
		_, _ = io.Copy(io.Discard, os.Stdin)
		fmt.Fprintln(os.Stderr, "Traceback: BrokenPipeError")
	},
	"mode":     func() { fmt.Print("mmafuzz-exec 1 json\nready\n") },
	"endless":  func() { fmt.Print("mmafuzz-exec 1 binary\n"); flood(os.Stdout, "about x y\n") },
	"longline": func() { fmt.Print("mmafuzz-exec 1 binary\nabout x "); flood(os.Stdout, "yyyyyyyyyyyyyyyyyy") },
	"header":   func() { fmt.Print("mmafuzz-exec 1 binary\n" + os.Args[2] + "\nready\n") },
	"dead":     func() { fmt.Print(hello("binary")) }, // ends before the first request
	"changing": func() { changing() },
	"t-zero4":  func() { textZeros() },
	"t-lives":  func() { textLives() },
	"cannot":   func() { child.Cannot(os.Stdout, errors.New("no device:\n\tbuy one")); os.Exit(2) },
	"cannots":  func() { child.Cannot(os.Stdout, errors.New(strings.Repeat("no ", 5000))) },
}

// textZeros answers every line at once, for benchmarks.
func textZeros() {
	fmt.Println("mmafuzz-exec 1 text\ninstruction dot4 a=fp16 b=fp16 c=fp32 d=fp32 k=4\nready")
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		fmt.Println("00000000")
	}
}

// lifetime is how many dot products some children answer.
const lifetime = 100

// textLives dies after some lines.
func textLives() {
	fmt.Print(hello("text"))
	in := bufio.NewScanner(os.Stdin)
	for n := 0; in.Scan(); n++ {
		if n == lifetime {
			os.Exit(1)
		}
		fmt.Println(dotLine(in.Text()))
	}
}

// changing has another header the second time.
func changing() {
	if _, err := os.Stat(os.Args[2]); err == nil {
		fmt.Print("mmafuzz-exec 1 binary\ninstruction other k=4 a=fp16 b=fp16 c=none d=fp32\nready\n")
		return
	}
	os.WriteFile(os.Args[2], nil, 0o666)
	serveBad(bad["exit0"])
}

// Children in text mode, and what they do with a line that has poison in it.
var texts = map[string]func(line string){
	"t-good":  func(line string) { fmt.Println(dotLine(line)) },
	"t-exit":  func(string) { os.Exit(0) },
	"t-hang":  func(string) { time.Sleep(time.Hour) },
	"t-words": func(string) { fmt.Println("cannot parse this") },
	"t-short": func(string) { fmt.Println("3f80") },
	"t-part":  func(string) { fmt.Print("3f80"); time.Sleep(time.Hour) },
	"t-more":  func(line string) { fmt.Print(dotLine(line), "\n", dotLine(line), "\n") },
	"t-long":  func(string) { flood(os.Stdout, "0000000") },
	"t-error": func(string) { fmt.Println("error poison") },
}

var ampere = good("ampere", inst, nil)

// dotLine computes a line.
func dotLine(line string) string {
	d, err := mma.ParseDot(ampere.Formats, ampere.K, false, strings.Fields(line))
	if err != nil {
		panic(err)
	}
	b := mma.NewBatch(ampere.Formats, mma.Shape{M: 1, N: 1, K: ampere.K, Tiles: 1})
	b.Set(0, d)
	out := make([]byte, 4)
	ampere.Run(b, out)
	return mma.FormatCode(ampere.D, mma.Load(out, 4, 0))
}

// runChild is a child's main.
func runChild(mode string, args []string) int {
	switch mode {
	case "sleep":
		time.Sleep(time.Hour)
	case "serve":
		return serveTarget(args[0])
	}
	if f := helped[mode]; f != nil {
		o, is := f()
		child.Main(o, is...)
	}
	if f := greetings[mode]; f != nil {
		f()
	}
	if f := bad[mode]; f != nil {
		serveBad(f)
	}
	if f := texts[mode]; f != nil {
		fmt.Print(hello("text"))
		in := bufio.NewScanner(os.Stdin)
		for in.Scan() {
			if strings.Contains(in.Text(), "1234") {
				f(in.Text())
			} else {
				fmt.Println(dotLine(in.Text()))
			}
		}
	}
	return 0
}

// serveTarget serves a target of this program.
func serveTarget(name string) int {
	t, err := devices.Open(name)
	if err != nil {
		child.Cannot(os.Stdout, err)
		return 2
	}
	child.Main(child.Options{About: child.About(t)}, child.Instructions(t, t.Instructions())...)
	return 0
}

// serveBad answers requests of a single dot product and leaves the others to f.
func serveBad(f func(q *wire.Request, right []byte)) {
	fmt.Print(hello("binary"))
	for {
		var head [wire.RequestSize]byte
		if _, err := io.ReadFull(os.Stdin, head[:]); err != nil {
			return
		}
		var q wire.Request
		q.Parse(head[:])
		io.CopyN(io.Discard, os.Stdin, int64(q.Length))
		a := wire.Answer{ID: q.ID, Length: uint32(4 * q.Dots())}
		right := append(a.Append(nil), make([]byte, a.Length)...)
		if q.Dots() == 1 {
			os.Stdout.Write(right)
			continue
		}
		f(&q, right)
	}
}
