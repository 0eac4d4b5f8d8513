// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/choices"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
)

// choiceCounts is what the check of all paths says of adaptive routing.
type choiceCounts struct {
	*choices.Result
	Troubles []choiceTrouble `json:"troubles"`
}

type choiceTrouble struct {
	From string `json:"from"`
	To   string `json:"to"`
	LID  uint16 `json:"lid"`
	How  string `json:"reached"`
	Loop bool   `json:"can_loop,omitempty"`
	lead Lead
}

// choices follows every choice of switches that route adaptively; nil where none does.
func (c *call) choices(p *session.Picture) (*choiceCounts, error) {
	if p.Tables.Adaptive == nil {
		return nil, nil
	}
	r, err := c.session.Analysis().Choices(c.ctx, p.Tables, choices.Options{Switches: c.Flag("switches")})
	if err != nil {
		return nil, err
	}
	a := &choiceCounts{Result: r, Troubles: []choiceTrouble{}}
	names := feature.NewNamer(p.Fabric)
	for _, t := range r.Troubles {
		a.Troubles = append(a.Troubles, choiceTrouble{
			names.Port(t.Src), names.Port(t.Dst), t.LID, t.Outcome.Endings.Reach().String(), t.Outcome.Endings&choices.Loops != 0, feature.ToTrace(p, t.Src, t.Dst, t.LID),
		})
	}
	return a, nil
}

func (a *choiceCounts) text(w io.Writer) {
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	line("  by every choice of adaptive routing: %d arrive for sure, %d by luck, %d never, %d unknown; %d have several paths", a.Sure, a.Luck, a.Never, a.Unknown, a.Many)
	if a.Loops > 0 {
		line("    packets of %d can loop", a.Loops)
	}
	span := func(counts []int64) string {
		first, last := -1, -1
		for links, n := range counts {
			if n > 0 && first < 0 {
				first = links
			}
			if n > 0 {
				last = links
			}
		}
		if first < 0 {
			return "none"
		}
		if first == last {
			return count(first, "link")
		}
		return fmt.Sprintf("%d to %s", first, count(last, "link"))
	}
	line("    the shortest paths have %s, the longest ones %s", span(a.Fewest), span(a.Most))
	if a.SLsUnread {
		line("    it depends on the SLs of paths, which were not read: all were taken for SL 0")
	}
	for _, t := range a.Troubles {
		line("    %s -> %s (LID %d): %s%s", t.From, t.To, t.LID, t.How, prose.When(t.Loop, ", and can loop", ""))
	}
}

func numbers(ports []uint8) []int {
	out := make([]int, len(ports))
	for i, p := range ports {
		out[i] = int(p)
	}
	return out
}
