package readable_test

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
)

func TestMarkdown(t *testing.T) {
	for _, c := range []struct{ text, line, code string }{
		{"mma.m16n8k32.kind::f8f6f4.f32", "mma.m16n8k32.kind::f8f6f4.f32", "`mma.m16n8k32.kind::f8f6f4.f32`"},
		{"v_mfma_f32_32x32x8_f16 ~ x", "v_mfma_f32_32x32x8_f16 ~ x", "`v_mfma_f32_32x32x8_f16 ~ x`"},
		{"![x](http://evil/a.png)", `!\[x\](http:\//evil/a.png)`, "`![x](http://evil/a.png)`"},
		{"<img src=//e> www.evil *b*", `&lt;img src=//e> www\.evil \*b\*`, "`<img src=//e> www.evil *b*`"},
		{"a`b``c`", "a\\`b\\`\\`c\\`", "``` a`b``c` ```"},
		{"` <b>", "\\` &lt;b>", "`` ` <b> ``"},
		{`\[a](b)`, `\\\[a\](b)`, "`\\[a](b)`"},
		{"a\n# b\x1b", `a\\n# b\\x1b`, "`a\\n# b\\x1b`"},
		{"", "", "`  `"},
	} {
		if got := readable.Markdown(c.text); got != c.line {
			t.Errorf("%q becomes %s, want %s", c.text, got, c.line)
		}
		if got := readable.MarkdownCode(c.text); got != c.code {
			t.Errorf("%q becomes the code %s, want %s", c.text, got, c.code)
		}
	}
	if got, want := readable.MarkdownBlock("a\n````\nb\n"), "`````\na\n````\nb\n`````\n"; got != want {
		t.Errorf("a block is %q, want %q", got, want)
	}
	if got, want := readable.MarkdownRow("a|b", "`c|d`", ""), "| a\\|b | `c\\|d` |  |\n"; got != want {
		t.Errorf("a row is %q, want %q", got, want)
	}
}
