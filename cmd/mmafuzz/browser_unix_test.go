//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"html"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "embed"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/sim/testdata/golden"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
)

// browser is Chromium without a window, spoken to over a pipe by its DevTools protocol:
// https://chromedevtools.github.io/devtools-protocol/.
type browser struct {
	t       *testing.T
	in      io.Writer
	out     *bufio.Reader
	id      int
	session string
	events  []event // since they were looked at last
}

// event is a message that the browser sends by itself.
type event struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
}

// openBrowser starts the browser, or skips the test where there is none.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("NO BROWSER: pages are not looked at; Debian's package is chromium")
	}
	c := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir())
	toBrowser, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, fromBrowser, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.ExtraFiles = []*os.File{toBrowser, fromBrowser}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		t.Skipf("NO BROWSER: %s does not start: %v", program, err)
	}
	toBrowser.Close()
	fromBrowser.Close()
	kill := func() { syscall.Kill(-c.Process.Pid, syscall.SIGKILL) } // with its children, which write to the directory too
	deadline := time.AfterFunc(10*time.Minute, kill)
	t.Cleanup(func() {
		fmt.Fprintf(in, `{"id":0,"method":"Browser.close"}`+"\x00")
		in.Close()
		late := time.AfterFunc(10*time.Second, kill)
		io.Copy(io.Discard, out) // until it is gone
		c.Wait()
		late.Stop()
		kill()
		deadline.Stop()
		out.Close()
	})
	b := &browser{t: t, in: in, out: bufio.NewReader(out)}
	var made struct{ TargetID, SessionID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &made)
	b.call("Target.attachToTarget", map[string]any{"targetId": made.TargetID, "flatten": true}, &made)
	b.session = made.SessionID
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// call calls a method and waits for its result.
func (b *browser) call(method string, params map[string]any, result any) {
	b.t.Helper()
	b.id++
	m := map[string]any{"id": b.id, "method": method, "params": params}
	if params == nil {
		m["params"] = map[string]any{}
	}
	if b.session != "" {
		m["sessionId"] = b.session
	}
	body, err := json.Marshal(m)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.in.Write(append(body, 0)); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	for {
		id, answer, failure := b.receive()
		switch {
		case id != b.id:
		case failure != "":
			b.t.Fatalf("%s: %s", method, failure)
		default:
			if result != nil {
				if err := json.Unmarshal(answer, result); err != nil {
					b.t.Fatalf("%s: %v", method, err)
				}
			}
			return
		}
	}
}

// receive reads a message: an answer, or an event, which is kept and has no id.
func (b *browser) receive() (id int, answer json.RawMessage, failure string) {
	b.t.Helper()
	body, err := b.out.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("the browser has gone: %v", err)
	}
	var m struct {
		event
		ID     int
		Result json.RawMessage
		Error  *struct{ Message string }
	}
	if err := json.Unmarshal(body[:len(body)-1], &m); err != nil {
		b.t.Fatal(err)
	}
	if m.ID == 0 {
		b.events = append(b.events, m.event)
	}
	if m.Error != nil {
		failure = m.Error.Message
	}
	return m.ID, m.Result, failure
}

// look is how a page is looked at.
type look struct {
	width         int
	scheme, media string // "": light, screen
	noScript      bool
}

func (l look) String() string {
	s := fmt.Sprintf("%d-%s%s", l.width, l.scheme, l.media)
	if l.noScript {
		s += "-noscript"
	}
	return s
}

//go:embed testdata/page_check.js
var pageCheck string

// look opens a page and reports what is wrong with it; a picture of it goes to the
// directory that MMAFUZZ_SCREENSHOTS names, if it is set.
func (b *browser) look(file string, l look) (problems []string) {
	b.t.Helper()
	b.events = nil
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": l.width, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.call("Emulation.setEmulatedMedia", map[string]any{"media": l.media, "features": []any{map[string]any{"name": "prefers-color-scheme", "value": l.scheme}}}, nil)
	b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": l.noScript}, nil)
	address := (&url.URL{Scheme: "file", Path: file}).String()
	b.call("Page.navigate", map[string]any{"url": address}, nil)
	loaded := func() bool {
		for _, e := range b.events {
			if e.Method == "Page.loadEventFired" {
				return true
			}
		}
		return false
	}
	for !loaded() {
		b.receive()
	}
	var found struct {
		Result           struct{ Value []string }
		ExceptionDetails *struct{ Text string }
	}
	b.call("Runtime.evaluate", map[string]any{"expression": pageCheck, "returnByValue": true}, &found)
	if found.ExceptionDetails != nil {
		b.t.Fatalf("the check itself: %s", found.ExceptionDetails.Text)
	}
	problems = found.Result.Value
	for _, e := range b.events {
		switch e.Method {
		case "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded", "Page.javascriptDialogOpening":
			problems = append(problems, fmt.Sprintf("%s: %.300s", e.Method, e.Params))
		case "Network.requestWillBeSent":
			var r struct{ Request struct{ URL string } }
			if err := json.Unmarshal(e.Params, &r); err != nil || strings.SplitN(r.Request.URL, "#", 2)[0] != address && !sharedFile(r.Request.URL) {
				problems = append(problems, "it asks for "+r.Request.URL)
			}
		}
	}
	if dir := os.Getenv("MMAFUZZ_SCREENSHOTS"); dir != "" {
		const length = 3000
		b.picture(filepath.Join(dir, strings.TrimSuffix(filepath.Base(file), ".html")+"-"+l.String()+".png"), l.width, length)
	}
	return problems
}

// sharedFile reports whether an address is of what the pages of an atlas share.
func sharedFile(address string) bool {
	return strings.HasPrefix(address, "file:") && (strings.HasSuffix(address, "/assets/style.css") || strings.HasSuffix(address, "/assets/script.js"))
}

// picture saves a picture of the page as it is first seen, down to a length.
func (b *browser) picture(file string, width, length int) {
	b.t.Helper()
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true,
		"clip": map[string]any{"x": 0, "y": 0, "width": width, "height": length, "scale": 1}}, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	if err == nil {
		err = os.WriteFile(file, png, 0o666)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// pageCommands make pages in the directory of the test, each with the name of its file.
var pageCommands = []struct {
	name string
	long bool // for the full matrix only
	run  [][]string
}{
	{"campaign", false, [][]string{
		{"run", "--count", "20000", "--out", "out"},
		{"report", "out", "--out", "campaign.html"}}},
	{"bundle", true, [][]string{{"show", "--html", "--all", "--out", "bundle.html", "out/mma.m16n8k16.f32.f16.f16.f32/fusion-width-1"}}},
	{"exact", true, [][]string{
		{"run", "--a", "sim:hopper", "--b", "ref:exact", "--inst", "wgmma.m64n8k32.f32.e4m3.e4m3", "--count", "50000", "--out", "exact"},
		{"report", "exact", "--out", "exact.html"}}},
	{"nights", true, [][]string{
		{"record", "--target", "sim:ampere", "--name", "one", "--plan", "plan.json", "--out", "one.rec"},
		{"record", "--target", "sim:hopper", "--name", "two", "--plan", "plan.json", "--out", "two.rec"},
		{"record", "--target", "sim:cdna3", "--name", "three", "--plan", "plan.json", "--out", "three.rec"},
		{"compare", "one.rec", "two.rec", "three.rec", "--out", "monday"},
		{"compare", "one.rec", "two.rec", "three.rec", "--baseline", "monday/compare.json", "--out", "tuesday"},
		{"report", "monday", "tuesday", "--out", "nights.html"}}},
	{"recording", true, [][]string{{"report", "one.rec", "--out", "recording.html"}}},
	{"inference", true, [][]string{
		{"infer", "--target", "sim:cdna3", "--inst", "v_mfma_f32_16x16x8_xf32", "--checks", "100", "--out", "inferred"},
		{"report", "inferred", "--out", "inference.html"}}},
	{"several", true, [][]string{{"report", "out", "monday", "inferred", "--out", "several.html"}}},
	{"discrepancy", true, [][]string{
		{"study", "discrepancy", "--count", "256", "--rates-only", "--out", "discrepancy"},
		{"report", "discrepancy", "--out", "discrepancy.html"}}},
	{"bounds", true, [][]string{
		{"study", "bounds", "--count", "50", "--out", "bounds"},
		{"report", "bounds", "--out", "bounds.html"}}},
	{"bias", true, [][]string{
		{"study", "bias", "sim:hopper", "sim:cdna3", "--count", "256", "--out", "bias"},
		{"report", "bias", "--out", "bias.html"}}},
	{"operations", true, [][]string{
		{"study", "operations", "sim:ampere", "--count", "200", "--out", "operations"},
		{"report", "operations", "--out", "operations.html"}}},
	{"chain", true, [][]string{
		{"study", "chain", "--count", "20", "--out", "chain"},
		{"report", "chain", "--out", "chain.html"}}},
	{"gemm", true, [][]string{
		{"gemm", "sim:hopper/mma.m16n8k16.f32.f16.f16.f32", "sim:cdna3/v_mfma_f32_16x16x16_f16", "--m", "64", "--n", "64", "--k", "256", "--out", "gemm"},
		{"report", "gemm", "--out", "gemm.html"}}},
	{"refine", true, [][]string{
		{"study", "refine", "--count", "50", "--out", "refine"},
		{"report", "refine", "--out", "refine.html"}}},
	{"hostile", false, [][]string{{"report", "hostile", "--out", "hostile.html"}}},
}

const browserPlan = `{"v": 1, "name": "small", "seed": 1, "entries": [
  {"instructions": ["mma.m16n8k8.f32.tf32.tf32.f32", "v_mfma_f32_16x16x8_xf32"], "inputs": [{"source": "cut@1[24,25]", "count": 96}]}]}`

// hostile are texts that pages of strangers' files have to show as they are.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=http://elsewhere.invalid/x onerror=alert(1)>`, `</style></title></svg></script><h1>`, "\x1b[31mred\x1b[0m\x00\u202e",
}

// writeHostile writes a bundle in which every text is hostile.
func writeHostile(t *testing.T, dir, from string) {
	t.Helper()
	b, err := corpus.ReadBundle(from)
	if err != nil {
		t.Fatal(err)
	}
	m := &b.Mismatch
	text := strings.Join(hostile, " ")
	long := text + strings.Repeat("long", 1<<18)
	m.A.Target, m.B.Target = "sim:"+long, "exec:"+text
	m.A.Instruction, m.A.Arch, m.B.Ulps = text, text, text
	m.A.Environment = map[string]string{long: text, "os": long}
	m.Bucket, m.Detail, m.Labels = text, text, hostile
	m.Origin.Source, m.Class, m.Exact, m.Free, m.Made = text, text, text, long, text
	m.Next, m.Alike = hostile, hostile
	m.Nearest = &corpus.Nearest{From: text, Case: text, Unit: text, Program: text}
	for i := range m.Changes {
		m.Changes[i].From, m.Changes[i].To = text, text
	}
	if err := corpus.WriteBundle(dir, m, nil); err != nil {
		t.Fatal(err)
	}
	if !bundle.Is(dir) {
		t.Fatal("no bundle was written")
	}
}

// TestBrowser looks at pages in a browser: nothing overflows, nothing is asked for, no
// script fails, all text can be read. With MMAFUZZ_BROWSER=all at every kind of page, at
// three widths, in both colour schemes, on paper and without scripts.
func TestBrowser(t *testing.T) {
	all := os.Getenv("MMAFUZZ_BROWSER") == "all"
	if !all {
		tier.LongOnly(t)
	}
	b := openBrowser(t)
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("plan.json", []byte(browserPlan), 0o666); err != nil {
		t.Fatal(err)
	}
	looks := []look{{width: 400, scheme: "dark"}}
	if all {
		looks = nil
		for _, width := range []int{400, 1000, 1600} {
			looks = append(looks, look{width: width, scheme: "light"}, look{width: width, scheme: "dark"})
		}
		looks = append(looks, look{width: 750, media: "print"}, look{width: 750, scheme: "light", noScript: true})
	}
	for _, p := range pageCommands {
		if p.long && !all {
			continue
		}
		if p.name == "hostile" {
			writeHostile(t, "hostile", "out/mma.m16n8k16.f32.f16.f16.f32/fusion-width-1")
		}
		for _, args := range p.run {
			var out, errs strings.Builder
			if code := run(args, strings.NewReader(""), &out, &errs); code > 1 {
				t.Fatalf("mmafuzz %s: exit status %d\n%s", strings.Join(args, " "), code, errs.String())
			}
		}
		file := filepath.Join(here, p.name+".html")
		if info, err := os.Stat(file); err != nil || info.Size() > 2<<20 {
			t.Errorf("%s: %v, at most 2 MB are wanted", p.name, info.Size())
		}
		for _, l := range looks {
			for _, problem := range b.look(file, l) {
				t.Errorf("%s %s: %s", p.name, l, problem)
			}
		}
	}
}

// TestAtlasInBrowser looks at a page of each kind of the atlas at three widths. The whole atlas
// takes a while: only with MMAFUZZ_BROWSER=all, or in the nightly tier.
func TestAtlasInBrowser(t *testing.T) {
	if os.Getenv("MMAFUZZ_BROWSER") != "all" && !tier.Nightly() {
		t.Skip("makes the whole atlas: only with MMAFUZZ_BROWSER=all")
	}
	b := openBrowser(t)
	dir := filepath.Join(t.TempDir(), "site")
	var errs strings.Builder
	if code := run([]string{"atlas", "--out", dir, "--speed=false"}, strings.NewReader(""), io.Discard, &errs); code != 0 {
		t.Fatalf("exit status %d\n%s", code, errs.String())
	}
	for _, page := range []string{"index.html", "architectures/cdna3.html", "instructions/hopper-mma.m16n8k16.f32.f16.f16.f32.html",
		"instructions/cdna4-v_mfma_f32_16x16x32_f16.html", "compare/hopper-cdna3.html", "compare/ampere-hopper.html", "guides/exec.html"} {
		for _, l := range []look{{width: 400, scheme: "dark"}, {width: 1000, scheme: "light"}, {width: 1600, scheme: "dark"}} {
			for _, problem := range b.look(filepath.Join(dir, page), l) {
				t.Errorf("%s %s: %s", page, l, problem)
			}
		}
	}
}

// TestReadmePicture compares the text that the picture in the README shows, which the file has as a
// description, with the page of today; with -update it makes the picture.
func TestReadmePicture(t *testing.T) {
	picture, err := filepath.Abs("../../.github/report.png")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	out, page := filepath.Join(dir, "out"), filepath.Join(dir, "report.html")
	for _, args := range [][]string{{"run", "--out", out}, {"report", out, "--out", page}} {
		if code := run(args, strings.NewReader(""), io.Discard, io.Discard); code > 1 {
			t.Fatalf("mmafuzz %s: exit status %d", strings.Join(args, " "), code)
		}
	}
	if *golden.Update {
		b := openBrowser(t)
		const width, length = 1100, 900
		if problems := b.look(page, look{width: width, scheme: "light"}); len(problems) > 0 {
			t.Fatal(problems)
		}
		b.picture(picture, width, length)
		describe(t, picture, b.seen(length))
	}
	shown, body := description(t, picture), read(t, page)
	texts := strings.Split(strings.TrimSpace(html.UnescapeString(tags.ReplaceAllString(string(body), "\x00"))), "\x00")
	for _, text := range shown {
		at := slices.IndexFunc(texts, func(s string) bool { return strings.TrimSpace(s) == text })
		if at < 0 {
			t.Fatalf("the README's picture shows %q, which the page has no more, or elsewhere: make it anew with go test ./cmd/mmafuzz -run ReadmePicture -update", text)
		}
		texts = texts[at+1:]
	}
}

var tags = regexp.MustCompile(`<[^>]*>`)

func read(t *testing.T, file string) []byte {
	t.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// seen returns the texts that the page shows down to a length.
func (b *browser) seen(length int) []string {
	b.t.Helper()
	var found struct{ Result struct{ Value []string } }
	b.call("Runtime.evaluate", map[string]any{"returnByValue": true, "expression": fmt.Sprintf(`(() => {
		const all = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange();
		while (walker.nextNode()) {
			range.selectNodeContents(walker.currentNode);
			const text = walker.currentNode.data.trim();
			if (text && [...range.getClientRects()].some(r => r.height > 0 && r.bottom <= %d)) all.push(text);
		}
		return all;
	})()`, length)}, &found)
	return found.Result.Value
}

// A PNG file has its description in a chunk iTXt after the header: keyword, two bytes for no
// compression, no language and no translated keyword.
const (
	pngHeader      = 33 // bytes, with the file's signature
	pngDescription = "iTXtDescription\x00\x00\x00\x00\x00"
)

// describe writes the texts that a picture shows into it.
func describe(t *testing.T, file string, texts []string) {
	t.Helper()
	png := read(t, file)
	chunk := []byte(pngDescription + strings.Join(texts, "\n"))
	text := binary.BigEndian.AppendUint32(nil, uint32(len(chunk)-len("iTXt")))
	text = binary.BigEndian.AppendUint32(append(text, chunk...), crc32.ChecksumIEEE(chunk))
	if err := os.WriteFile(file, slices.Concat(png[:pngHeader], text, png[pngHeader:]), 0o666); err != nil {
		t.Fatal(err)
	}
}

// description returns the texts that a picture shows.
func description(t *testing.T, file string) []string {
	t.Helper()
	png := read(t, file)
	text, ok := bytes.CutPrefix(png[min(pngHeader+4, len(png)):], []byte(pngDescription))
	if n := int(binary.BigEndian.Uint32(png[pngHeader:])) + len("iTXt") - len(pngDescription); ok && n > 0 && n <= len(text) {
		return strings.Split(string(text[:n]), "\n")
	}
	t.Fatalf("%s has no description", file)
	return nil
}
