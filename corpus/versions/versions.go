// Package versions identifies what results depend on beside targets, flags and seeds:
// the catalogue of instructions with their parameters, the generators of inputs, and the
// number formats. Whatever keeps results to go on from them, or to compare them later,
// keeps these digests with them: journals, campaigns, recordings, bundles.
//
// A digest is of data, not of the executable: building the program again changes none. A
// generator that is to give other inputs gets another version (package gen), an
// arithmetic other parameters (package mma), so that the digests tell.
package versions

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Digests are 16 hexadecimal digits each; all empty: not known, since an earlier program
// did not keep them.
type Digests struct {
	Catalogue  string `json:"catalogue"`  // every instruction with its formats, K and parameters
	Generators string `json:"generators"` // names, versions, weights and tiles
	Formats    string `json:"formats"`    // what the codes of every format mean
}

// Current returns the digests of this program.
func Current() Digests { return current() }

var current = sync.OnceValue(func() Digests {
	return Digests{
		Catalogue:  catalogue(mma.Catalog()),
		Generators: generators(append(gen.Versions(), gen.Source{}.Mutate(0).Generator)),
		Formats:    formats(fp.All()),
	}
})

// catalogue is the digest of instructions. Where a rule comes from and what it was
// checked against changes no result.
func catalogue(rows []mma.Instruction) string {
	h := sha256.New()
	for _, i := range rows {
		params, err := json.Marshal(&i.Params)
		if err != nil {
			panic("versions: " + err.Error()) // every parameter has a text
		}
		fmt.Fprintln(h, i.FullName(), i.Alias, i.Formats, i.K, string(params), uint8(i.Unknown), i.Refuse != "")
	}
	return text(h)
}

func generators(all []*gen.Generator) string {
	h := sha256.New()
	for _, g := range all {
		fmt.Fprintln(h, g.Name, g.Version, g.Weight, g.M, g.N, g.Size != nil, g.Aims != nil)
	}
	return text(h)
}

func formats(all []fp.ID) string {
	h := sha256.New()
	for _, id := range all {
		f := *id.Get()
		f.ID, f.Source = 0, ""
		fmt.Fprintf(h, "%+v\n", f)
	}
	return text(h)
}

// text shortens a hash to a digest.
func text(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)[:8]) }

// Known reports whether the digests are given.
func (d Digests) Known() bool { return d != Digests{} }

// Named returns the digests by what they are of.
func (d Digests) Named() map[string]string {
	return map[string]string{"catalogue": d.Catalogue, "generators": d.Generators, "formats": d.Formats}
}

// ErrOther says that another version of the program made something, and that this one
// cannot go on with it: results of two versions would be mixed.
var ErrOther = errors.New("another version of mmafuzz made it")

// Check returns nil if something was made with the digests of this program; else an
// ErrOther that has both.
func (d Digests) Check() error {
	if d == Current() {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrOther, d.Difference())
}

// Difference says in which digests something differs from this program, with both; ""
// if in none.
func (d Digests) Difference() string {
	now := Current()
	if !d.Known() {
		return "one that did not keep the digests of its catalogue, generators and formats"
	}
	var differ, same []string
	for _, p := range []struct{ what, have, now string }{
		{"catalogue", d.Catalogue, now.Catalogue}, {"generators", d.Generators, now.Generators}, {"formats", d.Formats, now.Formats},
	} {
		if p.have == p.now {
			same = append(same, p.what)
			continue
		}
		differ = append(differ, fmt.Sprintf("its %s: %s, this program's: %s", p.what, p.have, p.now))
	}
	if len(differ) > 0 && len(same) > 0 {
		differ = append(differ, "the same "+strings.Join(same, " and "))
	}
	return strings.Join(differ, "; ")
}
