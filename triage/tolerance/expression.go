package tolerance

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"unicode"
)

// precision is the bits of all numbers of an expression.
const precision = 512

// expression computes a number from the values of the names.
type expression func(values map[string]*big.Float) (*big.Float, error)

// parser reads expressions as people write them: + - * / with the usual precedence, a power ^
// (also **) of a whole number, parentheses, and the functions of functions.
type parser struct {
	text  string
	names []string // that stand for numbers
}

var errDivision = errors.New("division by zero")

var functions = map[string]func(x, y *big.Float) *big.Float{
	"max": func(x, y *big.Float) *big.Float {
		if x.Cmp(y) < 0 {
			return y
		}
		return x
	},
	"min": func(x, y *big.Float) *big.Float {
		if x.Cmp(y) > 0 {
			return y
		}
		return x
	},
}

func number() *big.Float { return new(big.Float).SetPrec(precision) }

func parseExpression(text string, names []string) (expression, error) {
	p := &parser{strings.ReplaceAll(text, "**", "^"), names}
	e, err := p.sum()
	if err == nil && p.next() != "" {
		err = fmt.Errorf("%q is left over", p.text)
	}
	return e, err
}

// next returns what the rest begins with: a name, a number, or one character.
func (p *parser) next() string {
	p.text = strings.TrimLeft(p.text, " \t")
	end := 0
	for n, r := range p.text {
		word := unicode.IsLetter(r) || unicode.IsDigit(r) || r == '.' || r == '_'
		sign := (r == '+' || r == '-') && n > 0 && strings.ContainsRune("eE", rune(p.text[n-1])) && unicode.IsDigit(rune(p.text[0]))
		if !word && !sign {
			break
		}
		end = n + len(string(r))
	}
	if end == 0 && p.text != "" {
		end = 1
	}
	return p.text[:end]
}

// take drops a token if it comes next.
func (p *parser) take(token string) bool {
	if p.next() != token {
		return false
	}
	p.text = p.text[len(token):]
	return true
}

// operation makes the expression that applies an operation to two others.
func operation(x, y expression, do func(z, x, y *big.Float) (*big.Float, error)) expression {
	return func(values map[string]*big.Float) (*big.Float, error) {
		a, err := x(values)
		if err != nil {
			return nil, err
		}
		b, err := y(values)
		if err != nil {
			return nil, err
		}
		z, err := do(number(), a, b)
		if err == nil && z.IsInf() {
			err = errors.New("a number is too large") // and with an infinity the next operation might have no result
		}
		return z, err
	}
}

func (p *parser) sum() (expression, error) {
	e, err := p.product()
	for err == nil {
		do := func(z, x, y *big.Float) (*big.Float, error) { return z.Add(x, y), nil }
		switch {
		case p.take("+"):
		case p.take("-"):
			do = func(z, x, y *big.Float) (*big.Float, error) { return z.Sub(x, y), nil }
		default:
			return e, nil
		}
		var right expression
		if right, err = p.product(); err == nil {
			e = operation(e, right, do)
		}
	}
	return nil, err
}

func (p *parser) product() (expression, error) {
	e, err := p.factor()
	for err == nil {
		do := func(z, x, y *big.Float) (*big.Float, error) { return z.Mul(x, y), nil }
		switch {
		case p.take("*"):
		case p.take("/"):
			do = func(z, x, y *big.Float) (*big.Float, error) {
				if y.Sign() == 0 {
					return nil, errDivision
				}
				return z.Quo(x, y), nil
			}
		default:
			return e, nil
		}
		var right expression
		if right, err = p.factor(); err == nil {
			e = operation(e, right, do)
		}
	}
	return nil, err
}

// factor is a power, or the negative of one.
func (p *parser) factor() (expression, error) {
	if p.take("-") {
		e, err := p.factor()
		if err != nil {
			return nil, err
		}
		return operation(e, e, func(z, x, _ *big.Float) (*big.Float, error) { return z.Neg(x), nil }), nil
	}
	e, err := p.operand()
	if err != nil || !p.take("^") {
		return e, err
	}
	to, err := p.factor()
	if err != nil {
		return nil, err
	}
	return operation(e, to, power), nil
}

// mostPower is the largest exponent: more than any format has.
const mostPower = 5000

func power(z, x, y *big.Float) (*big.Float, error) {
	n, exact := y.Int64()
	if exact != big.Exact || n > mostPower || n < -mostPower {
		return nil, fmt.Errorf("the exponent %.6g is not a whole number up to %d", y, mostPower)
	}
	z.SetInt64(1)
	for range max(n, -n) {
		z.Mul(z, x)
	}
	switch {
	case n >= 0:
		return z, nil
	case z.Sign() == 0:
		return nil, errDivision
	}
	return z.Quo(big.NewFloat(1).SetPrec(precision), z), nil
}

func (p *parser) operand() (expression, error) {
	token := p.next()
	switch {
	case token == "":
		return nil, errors.New("it ends where a number or a name should follow")
	case p.take("("):
		e, err := p.sum()
		if err == nil && !p.take(")") {
			err = fmt.Errorf("a ) is missing before %q", p.text)
		}
		return e, err
	case unicode.IsDigit(rune(token[0])) || token[0] == '.':
		v, _, err := big.ParseFloat(token, 10, precision, big.ToNearestEven)
		if err != nil || v.IsInf() {
			return nil, fmt.Errorf("%q is no number", token)
		}
		p.take(token)
		return func(map[string]*big.Float) (*big.Float, error) { return v, nil }, nil
	case slices.Contains(p.names, token):
		p.take(token)
		return func(values map[string]*big.Float) (*big.Float, error) { return values[token], nil }, nil
	case functions[token] != nil:
		p.take(token)
		return p.call(token)
	}
	return nil, fmt.Errorf("%q is no name; names: %s, max(,), min(,)", token, strings.Join(p.names, ", "))
}

// call reads the two arguments of a function.
func (p *parser) call(name string) (expression, error) {
	if !p.take("(") {
		return nil, fmt.Errorf("%s takes two numbers in parentheses", name)
	}
	x, err := p.sum()
	if err != nil {
		return nil, err
	}
	if !p.take(",") {
		return nil, fmt.Errorf("%s takes two numbers", name)
	}
	y, err := p.sum()
	if err == nil && !p.take(")") {
		err = fmt.Errorf("a ) is missing before %q", p.text)
	}
	if err != nil {
		return nil, err
	}
	return operation(x, y, func(_, x, y *big.Float) (*big.Float, error) { return functions[name](x, y), nil }), nil
}
