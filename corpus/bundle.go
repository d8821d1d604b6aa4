package corpus

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
	"github.com/mmafuzz/mmafuzz/corpus/strictjson"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// A bundle is a directory that holds everything about one finding:
//
//	mismatch.json   the case, both results and where they came from (Mismatch)
//	case.txt        the operands in the text form of mmafuzz eval
//	MANIFEST        SHA-256 of every file, by which damage is noticed
//
// and whatever else the writer puts in for people: a picture, traces, a test.
const (
	mismatchFile = "mismatch.json"
	caseFile     = "case.txt"
	manifestFile = "MANIFEST"
)

// BundleVersion is the version of mismatch.json that this program writes.
const BundleVersion = 1

// Mismatch is mismatch.json. Codes are hexadecimal strings.
type Mismatch struct {
	Version int          `json:"v"`
	A       SideRecord   `json:"a"`
	B       SideRecord   `json:"b"`
	Formats mma.Formats  `json:"formats"`
	K       int          `json:"k"` // of the dot product
	Case    string       `json:"case"`
	Found   string       `json:"found,omitempty"` // the case before it was minimized
	Origin  Origin       `json:"origin"`
	Class   string       `json:"class"`
	NaN     string       `json:"nan"`               // policy: bits or class
	Zero    string       `json:"zero"`              // policy: bits or class
	Bucket  string       `json:"bucket"`            // the primary cause
	Detail  string       `json:"detail,omitempty"`  // labels, with | between those of which each explains the case alone, + between those that it needs together; then :CLASS unless that is value
	Labels  []string     `json:"labels"`            // those in Detail
	Changes []mma.Change `json:"changes,omitempty"` // of A's arithmetic that explain B, or of B's that explain A
	Base    string       `json:"base,omitempty"`    // "a" or "b": the side that Changes apply to
	// ProgramK is the K with which the changed arithmetic runs. CaseChanges are those of
	// Changes that this case needs; with CaseBack they are taken back on the other side.
	// Equivalent are lists of changes that no case of the pair tells from Changes, and the first
	// Same of them no input that was tried, whatever the unit. With Changes, Explained of the
	// differing cases come out right, and so do Kept agreeing ones.
	ProgramK    int            `json:"program_k,omitempty"`
	CaseChanges []mma.Change   `json:"case_changes,omitempty"`
	CaseBack    bool           `json:"case_back,omitempty"`
	Equivalent  [][]mma.Change `json:"equivalent,omitempty"`
	Same        int            `json:"same,omitempty"`
	Explained   int            `json:"explained,omitempty"`
	Kept        int            `json:"kept,omitempty"`
	Exact       string         `json:"exact"`
	Stable      int            `json:"stable"`       // repetitions that gave the same results
	Of          int            `json:"of,omitempty"` // of so many; if it is missing, of 3
	Minimal     bool           `json:"minimal"`
	OnModel     bool           `json:"through_model,omitempty"`
	Free        string         `json:"free,omitempty"`
	// Defect is what is wrong with one side, under a condition, that otherwise computes what the
	// other side's arithmetic with Changes says.
	Defect *Defect `json:"defect,omitempty"`
	// Sums is how both sides add the products, where no program says it.
	Sums *Sums `json:"sums,omitempty"`
	// Past says that a side gives another result in a new process, and what changes it: then a
	// replay, which starts a new one, does not show the mismatch without Before.
	Past *Defect `json:"past,omitempty"`
	// Before is a question that is to be asked right before the case.
	Before string `json:"before,omitempty"`
	// Test is the Go test that found the mismatch, and runs it again.
	Test string `json:"test,omitempty"`
	// Nearest and Next are there if nothing explains the mismatch: the program that comes
	// nearest, and commands that go on from it. Alike are known targets that compute the
	// same as the side that Changes explain.
	Nearest *Nearest `json:"nearest,omitempty"`
	Next    []string `json:"next,omitempty"`
	Alike   []string `json:"alike,omitempty"`
	Made    string   `json:"made,omitempty"` // program and version
	// Versions are those of the program that made the bundle; earlier ones did not write them.
	Versions Versions `json:"versions,omitzero"`
}

// Rule is by what the cause of a mismatch is recognised in every run, where it is a rule; else "".
func (m *Mismatch) Rule() string {
	switch {
	case m.Defect != nil:
		return m.Defect.Identity
	case m.Sums != nil:
		return m.Sums.String()
	}
	return ""
}

// Defect is an error that a unit makes under a condition.
type Defect struct {
	Target string `json:"target"`
	Rule   string `json:"rule"` // a sentence
	// Confirmed inputs met the condition and showed the error, Beside did not meet it and would
	// else have shown it; Both are inputs in which one product did the one, and one the other. Tested
	// inputs were asked in all; the rule predicts each of them.
	Confirmed int `json:"confirmed"`
	Beside    int `json:"beside"`
	Both      int `json:"both,omitempty"`
	Tested    int `json:"tested"`
	// Identity is the target and the rule without what depends on the inputs that were asked: another
	// run of the same units finds it again. "": nothing is left.
	Identity string `json:"identity,omitempty"`
}

// Sums is how two units add the products of an element, where they differ.
type Sums struct {
	What    string `json:"what"` // the parts of their schedules that differ, with what these are
	A       string `json:"a"`    // sentences
	B       string `json:"b"`
	Checked int    `json:"checked"` // new elements on which these schedules have the bits of A and of B
	// Epilogue: a schedule multiplies operands, the sum or C, or makes negative results zero. Then exact and ulps,
	// which are of the sum alone, are no errors of the sides.
	Epilogue bool `json:"epilogue,omitempty"`
	// First is the first partial sum of the case by which A differs from B.
	First string `json:"first,omitempty"`
	// StepsA and StepsB are the partial sums of the case that are not the ones before them, of each side.
	StepsA []string `json:"steps_a,omitempty"`
	StepsB []string `json:"steps_b,omitempty"`
}

// String says what the schedules are, as far as they differ.
func (s *Sums) String() string {
	sides := []string{s.What + "."}
	for _, x := range []struct{ name, words, other string }{{"A", s.A, s.B}, {"B", s.B, s.A}} {
		switch {
		case x.words != "" && x.other == "":
			sides = append(sides, x.name+" alone: "+x.words)
		case x.words != "":
			sides = append(sides, x.name+": "+x.words)
		}
	}
	return strings.Join(sides, " ")
}

// Nearest is the program that comes nearest to a unit that none explains.
type Nearest struct {
	Of      string       `json:"of,omitempty"` // the target whose unit it comes near
	From    string       `json:"from"`         // target that computes it, except for the changes
	Changes []mma.Change `json:"changes"`      // of its arithmetic
	// Of the cases looked into, the arithmetic of the mismatch's other side is wrong in
	// Differ and right in Agree; of these, this one is right in Explained and Kept.
	Differ    int `json:"differ"`
	Explained int `json:"explained"`
	Agree     int `json:"agree"`
	Kept      int `json:"kept"`
	// Case is the smallest input found on which it fails, with the results of the
	// unit and of the program, which may be AnyNaN.
	Case    string `json:"case"`
	Unit    string `json:"unit"`
	Program string `json:"program"`
}

// AnyNaN is a program's result where it is a NaN and codes of NaNs are not compared.
const AnyNaN = "a NaN"

// NoResult is the result of a side that has failed on the case.
const NoResult = "-"

// SideRecord is one side of a mismatch.
type SideRecord struct {
	Target      string            `json:"target"`
	Instruction string            `json:"instruction"`
	Arch        string            `json:"arch"`
	K           int               `json:"k"`
	Result      string            `json:"result"` // a code, or NoResult
	Ulps        string            `json:"ulps"`   // error against the exact value, in units in the last place; NoResult as there
	Known       bool              `json:"known"`
	Params      *mma.Params       `json:"params,omitempty"` // its arithmetic, as far as it is known or believed
	Environment map[string]string `json:"environment,omitempty"`
}

// Origin is where a case was generated.
type Origin struct {
	Source string `json:"source"`
	Seed   uint64 `json:"seed"`
	Index  uint64 `json:"index"`
}

// Bundle is a bundle in memory.
type Bundle struct {
	Dir      string
	Mismatch Mismatch
	Files    map[string][]byte // all that the manifest lists
	Added    []string          // names of files that it does not list, which a person has added
}

// Dot returns the case's operands.
func (m *Mismatch) Dot() (*mma.Dot, error) { return m.parseDot(m.Case) }

func (m *Mismatch) parseDot(text string) (*mma.Dot, error) {
	return mma.ParseDot(m.Formats, m.K, false, strings.Fields(text))
}

// Questions returns what is to be asked one after the other: the case is the last one.
func (m *Mismatch) Questions() (all []*mma.Dot, err error) {
	for _, text := range []string{m.Before, m.Case} {
		if text == "" {
			continue
		}
		d, err := m.parseDot(text)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

// WriteBundle writes a bundle: all of it or nothing. A bundle that is there
// already is replaced. The names in extra are plain file names.
func WriteBundle(dir string, m *Mismatch, extra map[string][]byte) error {
	m.Version = BundleVersion
	body, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	files := maps.Clone(extra)
	if files == nil {
		files = map[string][]byte{}
	}
	files[mismatchFile] = append(body, '\n')
	files[caseFile] = []byte(caseText(m))
	for name := range files {
		if !plainName(name) || name == manifestFile {
			return fmt.Errorf("a bundle cannot hold a file of the name %q", name)
		}
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return err
	}
	tmp, err := lockTemporaryDir(temporaryName(dir))
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return errors.Join(tmp.replace(files), tmp.remove())
}

// temporaryDir is where a bundle is written before it takes its place. A lock in it shows
// that its process is alive.
type temporaryDir struct {
	path string
	lock *os.File
}

// What is in it.
const (
	temporaryLock  = "lock"
	temporaryFresh = "fresh" // the new bundle
	temporaryOld   = "old"   // the one whose place it takes
)

// lockTemporaryDir makes a directory, or takes one that nobody has locked. ErrInUse:
// another process has it.
func lockTemporaryDir(path string) (*temporaryDir, error) {
	for {
		if err := os.Mkdir(path, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		switch info, err := os.Lstat(path); {
		case err == nil && info.Mode()&fs.ModeSymlink != 0: // to a directory of which we would remove what is in it
			err = os.Remove(path)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			continue
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
		lock, err := lockNew(filepath.Join(path, temporaryLock))
		if errors.Is(err, fs.ErrNotExist) {
			continue // its last owner has just removed it
		}
		if err != nil && !errors.Is(err, errNoLocks) {
			return nil, err
		}
		return &temporaryDir{path, lock}, nil
	}
}

// place is where the bundle belongs.
func (t *temporaryDir) place() string {
	name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(t.path), temporaryPrefix), temporarySuffix)
	return filepath.Join(filepath.Dir(t.path), name)
}

// replace writes a bundle and puts it in its place; what was there moves to the temporary
// directory. A crash in between leaves no bundle or a complete one.
func (t *temporaryDir) replace(files map[string][]byte) error {
	if err := t.restore(); err != nil {
		return err
	}
	fresh := filepath.Join(t.path, temporaryFresh)
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	if err := os.Mkdir(fresh, 0o777); err != nil {
		return err
	}
	if err := writeFiles(fresh, files); err != nil {
		return err
	}
	err := os.Rename(t.place(), filepath.Join(t.path, temporaryOld))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(fresh, t.place())
}

// restore gives a bundle back its place, if a process ended after it had moved the
// bundle away and before it put another one there.
func (t *temporaryDir) restore() error {
	old := filepath.Join(t.path, temporaryOld)
	if _, err := os.Lstat(t.place()); errors.Is(err, fs.ErrNotExist) {
		if err := os.Rename(old, t.place()); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return os.RemoveAll(old)
}

// remove removes the directory.
func (t *temporaryDir) remove() error {
	return errors.Join(t.restore(), closeRemoved(t.lock, t.path))
}

func caseText(m *Mismatch) string {
	return fmt.Sprintf("# %s of %s, K = %d: a,.. b,.. c\n# %s gives %s\n# %s gives %s\n%s\n",
		printable.Line(m.A.Instruction), m.Formats, m.K, printable.Line(m.A.Target), m.A.Result, printable.Line(m.B.Target), m.B.Result, m.Case)
}

func writeFiles(dir string, files map[string][]byte) error {
	var manifest bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := writeSynced(filepath.Join(dir, name), files[name]); err != nil {
			return err
		}
		sum := sha256.Sum256(files[name])
		fmt.Fprintf(&manifest, "%s  %s\n", hex.EncodeToString(sum[:]), name)
	}
	return writeSynced(filepath.Join(dir, manifestFile), manifest.Bytes())
}

func writeSynced(file string, data []byte) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		f.Close()
		return err
	}
	if err := f.Sync(); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// ReadBundle reads a bundle and checks that it is complete.
func ReadBundle(dir string) (*Bundle, error) {
	b, err := readBundle(dir)
	if err != nil {
		return nil, fmt.Errorf("bundle %s: %w", dir, err)
	}
	return b, nil
}

func readBundle(dir string) (*Bundle, error) {
	manifest, err := readMember(dir, manifestFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("there is no MANIFEST: this is not a bundle, or one that was cut short")
	}
	if err != nil {
		return nil, err
	}
	b := &Bundle{Dir: dir, Files: map[string][]byte{}}
	for line := range strings.Lines(string(manifest)) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !ok || !plainName(name) {
			return nil, fmt.Errorf("MANIFEST is damaged: %q", line)
		}
		if len(b.Files) == maxMembers {
			return nil, fmt.Errorf("MANIFEST lists more than %d files", maxMembers)
		}
		if _, ok := b.Files[name]; ok {
			return nil, fmt.Errorf("MANIFEST is damaged: it lists %s twice", name)
		}
		data, err := readMember(dir, name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s is missing", name)
		}
		if err != nil {
			return nil, err
		}
		have := sha256.Sum256(data)
		if hex.EncodeToString(have[:]) != sum {
			return nil, fmt.Errorf("%s has been changed: its checksum is not that of the MANIFEST", name)
		}
		b.Files[name] = data
	}
	body, ok := b.Files[mismatchFile]
	if !ok {
		return nil, errors.New("MANIFEST does not list " + mismatchFile)
	}
	if err := b.Mismatch.parse(body); err != nil {
		return nil, err
	}
	if err := b.checkListed(); err != nil {
		return nil, err
	}
	return b, nil
}

// parse reads mismatch.json.
func (m *Mismatch) parse(body []byte) error {
	var version struct {
		V int `json:"v"`
	}
	// The version first: the other fields of another version may not fit Mismatch.
	if err := json.Unmarshal(body, &version); err != nil {
		return fmt.Errorf("%s: %w", mismatchFile, strictjson.Error(body, err))
	}
	if version.V != BundleVersion {
		return fmt.Errorf("it is of version %d, this program reads %d", version.V, BundleVersion)
	}
	if err := strictjson.Unmarshal(body, m); err != nil {
		return fmt.Errorf("%s: %w", mismatchFile, err)
	}
	m.printable()
	if err := m.check(); err != nil {
		return fmt.Errorf("%s: %w", mismatchFile, err)
	}
	return nil
}

// printable makes all that is only shown fit for a terminal. The targets stay as they are:
// a command or the name of a file may have any character.
func (m *Mismatch) printable() {
	a, b, free := m.A.Target, m.B.Target, printable.Text(m.Free)
	printable.Strings(m)
	m.A.Target, m.B.Target, m.Free = a, b, free
}

// UnlistedError reports that a bundle has a file that its MANIFEST does not list and that has the
// name of a file of bundles. All that it lists is there.
type UnlistedError struct{ Name string }

func (e *UnlistedError) Error() string {
	return e.Name + " is not listed in MANIFEST: either it was added or MANIFEST was cut short"
}

// Limits that no bundle exceeds.
const (
	MaxMember  = 16 << 20 // bytes of a file
	maxMembers = 64       // files
)

// readMember reads a file of a bundle.
func readMember(dir, name string) ([]byte, error) {
	return ReadFile(filepath.Join(dir, name), "file of a bundle", MaxMember)
}

// plainName reports whether a name is that of a file in the bundle's directory.
func plainName(name string) bool {
	return filepath.IsLocal(name) && name == filepath.Base(name) && name != "." && !strings.ContainsAny(name, `/\`)
}

// checkListed finds the files that the manifest does not list. Those that a person has added are
// never read, so they can change nothing and are only named. One with the name of a file of
// bundles is an error: either a line of the manifest is missing, or the file would pass for a
// part of the bundle. Capital letters count as small ones, as on some file systems. Litter does not
// count.
func (b *Bundle) checkListed() error {
	entries, err := os.ReadDir(b.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		_, listed := b.Files[name]
		switch {
		case listed || name == manifestFile || IsLitter(e):
		case isBundleFile(name, strings.ToLower):
			return &UnlistedError{name}
		default:
			b.Added = append(b.Added, name)
		}
	}
	return nil
}

// bundleFiles are patterns of the names of files that this program writes into bundles.
var bundleFiles = []string{manifestFile, mismatchFile, caseFile, "picture.txt", "README.md", "repro_test.go",
	"repro_[ab].cu", "repro_[ab].hip", "repro_[ab].py", "repro_numpy.py", "trace-[ab].json", "model-[ab].json", "tile-[ab].rec"}

// IsBundleFile reports whether a file of a bundle may have a name. A file of another name has
// been added by a person.
func IsBundleFile(name string) bool {
	return isBundleFile(name, func(s string) string { return s })
}

func isBundleFile(name string, letters func(string) string) bool {
	return slices.ContainsFunc(bundleFiles, func(pattern string) bool {
		ok, err := filepath.Match(letters(pattern), letters(name))
		return ok && err == nil
	})
}

// maxK is the largest common multiple of two instructions' K.
const maxK = mma.MaxK * mma.MaxK

func (m *Mismatch) check() error {
	if m.Same < 0 || m.Same > len(m.Equivalent) {
		return fmt.Errorf("same is %d, of %d equivalent", m.Same, len(m.Equivalent))
	}
	if f := m.Formats; f.A == fp.None || f.B == fp.None || f.D == fp.None || (f.Scale == fp.None) != (f.Block == 0) || f.Down > 127 {
		return fmt.Errorf("impossible formats: %s", f) // those that no program has may be those of a unit
	}
	if m.K < 1 || m.K > maxK || m.A.K < 1 || m.B.K < 1 || m.K%m.A.K != 0 || m.K%m.B.K != 0 {
		return fmt.Errorf("impossible K: %d of instructions with %d and %d", m.K, m.A.K, m.B.K)
	}
	if m.ProgramK < 0 || m.ProgramK > 0 && m.K%m.ProgramK != 0 {
		return fmt.Errorf("impossible program_k: %d of a case with K %d", m.ProgramK, m.K)
	}
	for _, q := range []struct{ name, text string }{{"case", m.Case}, {"found", m.Found}, {"before", m.Before}} {
		if _, err := m.parseDot(q.text); err != nil && (q.text != "" || q.name == "case") {
			return fmt.Errorf("%s: %w", q.name, err)
		}
	}
	return cmp.Or(m.A.checkResult("a", m.Formats), m.B.checkResult("b", m.Formats))
}

// checkResult returns an error unless the result of a side is a code of D, or none.
func (s *SideRecord) checkResult(side string, f mma.Formats) error {
	if s.Result == NoResult {
		return nil
	}
	_, err := mma.ParseCode(side+".result", f.D, s.Result)
	return err
}
