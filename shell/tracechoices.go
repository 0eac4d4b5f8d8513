// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/choices"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
)

// pathSet is every path that a pair's packets can take where switches route adaptively.
type pathSet struct {
	// Paths counts them, by ports; 0 where packets can loop.
	Paths          float64     `json:"paths"`
	Reached        string      `json:"reached"`
	CanLoop        bool        `json:"can_loop,omitempty"`
	Share          float64     `json:"share_delivered"`
	FewestSwitches int32       `json:"fewest_switches"`
	MostSwitches   int32       `json:"most_switches"` // -1 where packets can loop
	Says           string      `json:"says"`
	Tree           []choiceRow `json:"tree"`
}

type choiceRow struct {
	Depth    int      `json:"depth"`
	Switches []string `json:"switches,omitempty"`
	Ports    []int    `json:"ports,omitempty"`
	Table    int      `json:"table,omitempty"`
	State    string   `json:"state,omitempty"`
	Share    float64  `json:"share"`
	Static   bool     `json:"static,omitempty"`
	Again    bool     `json:"again,omitempty"`
	End      string   `json:"end,omitempty"`
	lead     Lead
	what, by string
}

// addChoices adds every path of the pair, where tables have groups.
func (a *traceAnswer) addChoices(p *session.Picture, src fabric.PortIndex, lid uint16) {
	if p.Tables.Adaptive == nil {
		return
	}
	sl := uint8(0)
	if a.SL != nil {
		sl = *a.SL
	}
	set := choices.NewNet(p.Tables).Of(src, lid, sl)
	if len(set.Rows) == 0 {
		return
	}
	a.Adaptive = ""
	a.Choices = &pathSet{
		Paths: set.Outcome.Paths, Reached: set.Outcome.Endings.Reach().String(), CanLoop: set.Outcome.Endings&choices.Loops != 0,
		Share: set.Outcome.Share, FewestSwitches: set.FewestSwitches, MostSwitches: set.MostSwitches, Says: set.String(),
	}
	if reach := set.Outcome.Endings.Reach(); (reach == choices.Sure) != a.Arrives {
		a.Verdict, a.Arrives = prose.When(reach == choices.Sure, walk.Delivered.String(), reach.String()), reach == choices.Sure
		a.Why = set.String() + "; by the linear tables alone: " + a.Why
	}
	for i := range set.Rows {
		a.Choices.Tree = append(a.Choices.Tree, choiceRowOf(p.Fabric, &set.Rows[i]))
	}
}

func choiceRowOf(f *fabric.Fabric, r *choices.Row) choiceRow {
	row := choiceRow{Depth: r.Depth, Ports: numbers(r.Ports), Table: int(r.Table), Share: r.Share, Static: r.Static, Again: r.Again}
	for _, s := range r.Switches {
		row.Switches = append(row.Switches, f.NodeName(f.Switches[s]))
	}
	if len(r.Switches) > 0 {
		row.State, row.lead = r.State.String(), feature.ToNode(f, f.Switches[r.Switches[0]])
	}
	row.what, row.by = r.Words(f)
	if !r.Stop {
		return row
	}
	row.End = row.what
	row.lead = feature.ToPort(f, r.At)
	return row
}

func (s *pathSet) text(w io.Writer) {
	if s == nil {
		return
	}
	_, _ = fmt.Fprintln(w, "by every choice of adaptive routing:")
	for i := range s.Tree {
		r := &s.Tree[i]
		mark := prose.When(r.Static, "*", " ")
		share := ""
		if !s.CanLoop {
			share = fmt.Sprintf("  %.3g %%", r.Share*100)
		}
		by := prose.When(r.by == "", "", "  "+r.by)
		_, _ = fmt.Fprintf(w, " %s%s%s%s%s\n", mark, strings.Repeat("  ", r.Depth), r.what, by, prose.When(r.Again, "", share))
	}
	_, _ = fmt.Fprintf(w, "  %s\n", s.Says+"; * the path of the linear tables")
}
