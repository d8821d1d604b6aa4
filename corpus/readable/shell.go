package readable

import (
	"fmt"
	"hash/fnv"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/mmafuzz/mmafuzz/corpus/printable"
)

// ShellWord writes a word as a POSIX shell reads it, in characters that can be seen,
// for commands that people copy. Line ends at the end of a word stay as they are: a command
// substitution, which writes all else that cannot be seen, would drop them.
func ShellWord(word string) string {
	ends := len(word) - len(strings.TrimRight(word, "\n"))
	visible := word[:len(word)-ends]
	switch {
	case word == "":
		return "''"
	case ends > 0:
		return ShellWord(visible) + "'" + word[len(visible):] + "'"
	case printable.Line(word) != word:
		return `"$(printf '` + octal(word) + `')"`
	case strings.ContainsFunc(word, special):
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

// special reports whether a shell may see more in a character than itself.
func special(r rune) bool {
	switch {
	case r >= utf8.RuneSelf, 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	case r == filepath.Separator: // a backslash, on Windows
		return false
	}
	return !strings.ContainsRune("/._-+=:,@%", r)
}

// octal writes a word as a format of printf(1).
func octal(word string) string {
	var b strings.Builder
	for i := range len(word) {
		switch c := word[i]; {
		case c == '%':
			b.WriteString("%%")
		case c < ' ' || c > '~' || c == '\\' || c == '\'' || c == '-' && i == 0: // - would begin an option
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// ShellPath writes the name of a file as an argument that cannot be taken for a flag.
func ShellPath(name string) string {
	if strings.HasPrefix(name, "-") {
		name = "." + string(filepath.Separator) + name
	}
	return ShellWord(name)
}

// ShellCommand writes a command as a shell reads it.
func ShellCommand(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = ShellWord(w)
	}
	return strings.Join(quoted, " ")
}

// slugs replaces what not every system allows in the name of a file.
var slugs = strings.NewReplacer("::", ".", ":", "-", "|", "-or-", "/", "_", " ", "", "~", "_vs_", `\`, "_")

// Slug makes a name fit for a file on any system, in any directory that this program writes. A
// name that is long, reserved, or has characters that only some systems allow ends in a hash, so
// that it is not another one's.
func Slug(name string) string {
	const most = 100
	s := slugs.Replace(name)
	fit := strings.Map(inFileName, s)
	if strings.HasPrefix(fit, ".") { // the directory itself, the one above it, or a hidden file
		fit = "_" + fit[1:]
	}
	if fit == s && len(s) <= most && !reserved(s) {
		return s
	}
	h := fnv.New32a()
	h.Write([]byte(name))
	return fmt.Sprintf("%s-%08x", strings.ToValidUTF8(fit[:min(len(fit), most-9)], ""), h.Sum32())
}

// inFileName replaces a character that only some systems allow in the name of a file.
func inFileName(r rune) rune {
	if r == utf8.RuneError || !unicode.IsPrint(r) || strings.ContainsRune(`"*<>?`, r) {
		return '_'
	}
	return r
}

// ownNames are those of files and directories of this program beside which files with slugs as
// names may be: in the directories of campaigns, of their shards, and of sets of tests.
var ownNames = []string{"journal", "go.mod", "go.sum", "campaign.json", "units", "table.tsv"}

// windowsDevices are names that are no files on Windows, whatever extension they have.
var windowsDevices = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)`) })

// reserved reports whether a file of this name would be something else. Some file systems take
// capital letters for small ones, and Windows drops dots at the end.
func reserved(name string) bool {
	return name == "" || strings.HasSuffix(name, ".") || slices.Contains(ownNames, strings.ToLower(name)) || windowsDevices().MatchString(name)
}
