// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/muesli/termenv"
)

// TestPrefix dims the beginning that most names share, and leaves it out where a name does not fit.
func TestPrefix(t *testing.T) {
	names := []string{"alien"}
	for i := range 40 {
		names = append(names, fmt.Sprintf("cluster-a-node-%04d HCA-1", i))
	}
	shared := Prefix(names)
	if shared != "cluster-a-node-" {
		t.Errorf("the names share %q", shared)
	}
	for _, list := range [][]string{nil, names[:3], {"leaf-01", "leaf-02", "leaf-03", "leaf-04"},
		append(slices.Repeat([]string{"another-cluster-x"}, 20), names...)} {
		if s := Prefix(list); s != "" {
			t.Errorf("%d names share %q", len(list), s)
		}
	}
	for _, c := range []struct {
		theme string
		w     int
		want  string
	}{
		{"none", 20, "cluster-a-node-0007 "},
		{"none", 12, "…0007       "},
		{"none", 17, "…0007            "},
		{"dark", 20, "DIMcluster-a-node-END0007 "},
		{"dark", 12, "DIM…END0007       "},
	} {
		look, err := NewTheme(c.theme, termenv.TrueColor, unicodeGlyphs(), nil)
		if err != nil {
			t.Fatal(err)
		}
		p := NewPen(look, c.w)
		p.PutName("", "cluster-a-node-0007", c.w, []string{shared})
		got := p.Done()
		if c.theme != "none" {
			got = strings.NewReplacer(string(look.Dim), "DIM", Reset, "END").Replace(got)
		}
		if got != c.want {
			t.Errorf("%s, %d cells: %q, want %q", c.theme, c.w, got, c.want)
		}
	}
}
