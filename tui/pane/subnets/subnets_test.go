// SPDX-License-Identifier: Apache-2.0

package subnets_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/feature/sources"
	"example.org/ibconsole/tui/pane"
	"example.org/ibconsole/tui/pane/panetest"
	"example.org/ibconsole/tui/pane/subnets"
)

type source []shell.Glance

func (s source) Glances() ([]shell.Glance, int) { return s, 0 }

func (s source) Compare(context.Context) (*sources.Comparison, error) {
	return nil, errors.New("one of them is being read")
}

// TestGlances checks that each subnet has a row before they are compared, with the reason if it cannot be opened, and
// that unknown figures are not zero.
func TestGlances(t *testing.T) {
	p := subnets.New(panetest.Common(t), source{{Name: "rail-1"}, {Name: "rail-2", Trouble: "no such file"}})
	p.Renew()
	table := p.Base()
	if table.N != 2 {
		t.Fatalf("%d rows", table.N)
	}
	for line, want := range [][]string{{"rail-1"}, {"rail-2", "no such file"}} {
		text := table.PlainText([]int{line}, false)
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%q lacks %q", text, w)
			}
		}
		if strings.Contains(text, "0") {
			t.Errorf("an unknown figure: %q", text)
		}
	}
	if one := subnets.New(panetest.Common(t), source{{Name: "alone"}}); !one.(pane.Hideable).Hidden() {
		t.Error("the pane of one subnet is not hidden")
	}
}
