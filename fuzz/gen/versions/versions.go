// Package versions identifies what results depend on besides targets, flags and seeds:
// the catalogue of instructions with their parameters, the generators of inputs, and the
// number formats. Whatever keeps results to go on from them, or to compare them later,
// keeps these digests with them (corpus.Versions): journals, campaigns, recordings, bundles.
//
// A digest is of data, not of the executable: building the program again changes none. A
// generator that is to give other inputs gets another version (package gen), an
// arithmetic other parameters (package mma), so that the digests tell.
//
// The API of this package is not promised: it may change in any version.
package versions

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"strconv"
	"sync"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Current returns the digests of this program.
func Current() corpus.Versions { return current() }

var current = sync.OnceValue(func() corpus.Versions {
	return corpus.Versions{
		Catalogue:  catalogue(mma.Catalog()),
		Generators: generators(append(append(gen.Versions(), gen.Conversions()...), gen.Source{}.Mutate(0).Generator)),
		Formats:    formats(fp.All()),
	}
})

// catalogue is the digest of instructions. Where a rule comes from and what it was
// checked against changes no result.
func catalogue(rows []mma.Instruction) string {
	h := sha256.New()
	texts, formats := map[mma.Params][]byte{}, map[mma.Formats]string{} // many rows share theirs
	var line []byte
	for n := range rows {
		i := &rows[n]
		params, ok := texts[i.Params]
		if !ok {
			var err error
			if params, err = json.Marshal(&i.Params); err != nil {
				panic("versions: " + err.Error()) // every parameter has a text
			}
			texts[i.Params] = params
		}
		if _, ok := formats[i.Formats]; !ok {
			formats[i.Formats] = i.Formats.String()
		}
		line = line[:0]
		for _, word := range []string{i.Arch, "/", i.Name, " ", i.Alias, " ", formats[i.Formats], " ", strconv.Itoa(i.K), " "} {
			line = append(line, word...)
		}
		line = append(line, params...)
		line = strconv.AppendUint(append(line, ' '), uint64(i.Unknown), 10)
		line = strconv.AppendBool(append(line, ' '), i.Refuse != "")
		h.Write(append(line, '\n'))
	}
	return text(h)
}

func generators(all []*gen.Generator) string {
	h := sha256.New()
	fmt.Fprintln(h, gen.ScheduleVersion)
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

// Note says that something was made by another version, where it can be used nevertheless;
// so is what that may mean. It is "" if this version made it, and for data that record no
// version.
func Note(what string, made corpus.Versions, so string) string {
	now := Current()
	if made.IsZero() || made == now {
		return ""
	}
	return fmt.Sprintf("%s was made by another version (%s): %s", what, made.Difference(now), so)
}
