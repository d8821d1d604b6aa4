package readable

import "fmt"

// Uncompared is how many results differ in codes of NaNs or signs of zeros alone, which of them
// are compared by class.
type Uncompared struct {
	Codes     uint64
	Of        string // which results, "" for all
	NaN, Zero bool
}

// Add adds other results.
func (u *Uncompared) Add(o Uncompared) {
	u.Codes, u.NaN, u.Zero = u.Codes+o.Codes, u.NaN || o.NaN, u.Zero || o.Zero
}

func (u *Uncompared) String() string {
	what, flags, of := "NaN codes", "--nan bits", ""
	switch {
	case u.NaN && u.Zero:
		what, flags = "NaN codes or zero signs", "--nan bits --zero bits"
	case u.Zero:
		what, flags = "zero signs", "--zero bits"
	}
	if u.Of != "" {
		of = " of " + u.Of
	}
	return fmt.Sprintf("%s more%s differ in %s alone (counted by %s)", Thousands(u.Codes), of, what, flags)
}
