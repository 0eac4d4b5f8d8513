// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"fmt"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/choices"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session"
)

// ChoiceCounts counts paths by their outcome over all choices of adaptive routing. It is nil if no switch routes
// adaptively.
type ChoiceCounts struct {
	Sure      int64  `key:"sure" name:"arrive for sure"`
	Luck      int64  `key:"luck" name:"arrive by luck" help:"paths that arrive by some choices only"`
	Never     int64  `key:"never" name:"never arrive"`
	Unknown   int64  `key:"unknown" name:"unknown"`
	Loops     int64  `key:"loops" name:"can loop"`
	Many      int64  `key:"many" name:"several" help:"source and LID pairs with more than one path"`
	SLsUnread bool   `key:"sls_unread" help:"the result depends on service levels of paths that were not read"`
	Shortest  string `name:"shortest paths"`
	Longest   string `name:"longest paths"`

	Result *choices.Result
	More   int64 // paths that do not arrive for sure and are not in the table
	p      *session.Picture
}

// UnsurePath is a path that fails with at least one choice of adaptive routing.
type UnsurePath struct {
	From     answer.Value `key:"from" kind:"place"`
	FromName string       `name:"FROM"`
	To       answer.Value `key:"to" kind:"place"`
	ToName   string       `name:"TO"`
	LID      uint16       `key:"lid" name:"LID" kind:"lid"`
	Reached  string       `key:"reached"`
	How      string       `name:"REACHED"`
	CanLoop  bool         `key:"can_loop" name:"CAN LOOP"`
	answer.Lead
}

var unsureTable = answer.Table[UnsurePath]{
	Key: "adaptive_troubles", Title: "paths that do not arrive for sure", Help: "the first paths of each kind",
	Fields: answer.Fields[UnsurePath](),
	Row:    "    {FROM} -> {TO} (LID {lid|#}): {REACHED}",
}

// Choices follows the paths over all choices of adaptive routing and counts them. It returns nil if no switch routes
// adaptively.
func (c *Call) Choices(p *session.Picture) (*ChoiceCounts, error) {
	if p.Tables.Adaptive == nil {
		return nil, nil
	}
	n, err := c.Session.Analysis().Choices(c.Ctx, p.Tables, choices.Options{Switches: c.Flag("switches")})
	if err != nil {
		return nil, err
	}
	return &ChoiceCounts{
		Sure: n.Sure, Luck: n.Luck, Never: n.Never, Unknown: n.Unknown, Loops: n.Loops, Many: n.Many,
		SLsUnread: n.SLsUnread,
		Shortest:  spanText(n.Fewest), Longest: spanText(n.Most), Result: n, p: p,
	}, nil
}

// ChoiceItems returns the lines and the table of [ChoiceCounts]. The facts must have the prefix adaptive_. The function
// when reports whether text shows them.
func ChoiceItems[T any](of func(T) *ChoiceCounts, when func(T) bool) []answer.Item[T] {
	shown := func(v T) bool { return of(v) != nil && (when == nil || when(v)) }
	return []answer.Item[T]{
		{Line: "  by every choice of adaptive routing: {adaptive_sure} arrive for sure, {adaptive_luck} by luck, " +
			"{adaptive_never} never, {adaptive_unknown} unknown; {adaptive_many} have several paths", When: shown},
		{Line: "[    packets of {adaptive_loops} can loop]", When: shown},
		{Line: "    the shortest paths have {adaptive_shortest paths}, the longest ones {adaptive_longest paths}",
			When: shown},
		{Line: "{?adaptive_sls_unread}    assumes SL 0 for all paths: the result depends on SLs that were not read",
			When: shown},
		{Table: answer.Show(&unsureTable, func(v T) answer.Rows[UnsurePath] { return of(v).unsure() }), When: shown},
	}
}

// unsure returns the rows of paths that fail with at least one choice. The number of rows is limited.
func (n *ChoiceCounts) unsure() answer.Rows[UnsurePath] {
	if n == nil {
		return answer.Slice[UnsurePath](nil)
	}
	f := n.p.Fabric
	rows := answer.Lazy(len(n.Result.Troubles), func(i int) UnsurePath {
		t := &n.Result.Troubles[i]
		reached, canLoop := t.Outcome.Endings.Reach().String(), t.Outcome.Endings&choices.Loops != 0
		return UnsurePath{
			answer.Port(f, t.Src), f.PortName(t.Src), answer.Port(f, t.Dst), f.PortName(t.Dst), t.LID,
			reached, reached + prose.When(canLoop, ", and can loop", ""), canLoop, ToTrace(n.p, t.Src, t.Dst, t.LID),
		}
	})
	rows.More = n.More
	return rows
}

// spanText returns the range of the lengths of paths, such as "2 to 4 links". counts[n] is the number of paths with n
// links.
func spanText(counts []int64) string {
	first, last := -1, -1
	for links, n := range counts {
		if n > 0 && first < 0 {
			first = links
		}
		if n > 0 {
			last = links
		}
	}
	switch {
	case first < 0:
		return "none"
	case first == last:
		return prose.Count(first, "link")
	}
	return fmt.Sprintf("%d to %s", first, prose.Count(last, "link"))
}
