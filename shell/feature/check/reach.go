// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/checks/reach"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session"
)

// pathCounts counts paths by outcome.
type pathCounts struct {
	Paths        int64        `key:"paths" name:"paths"`
	Delivered    int64        `key:"delivered" name:"delivered"`
	Unreachable  int64        `key:"unreachable" name:"unreachable" help:"end port unreachable or without a LID"`
	DeadEnds     int64        `key:"dead_ends" name:"dead ends" help:"other paths that end at a missing entry or link"`
	Loops        int64        `key:"loops" name:"in loops"`
	Misdelivered int64        `key:"misdelivered" name:"misdelivered"`
	TooLong      int64        `key:"too_long" name:"too long" help:"paths over more links than a packet may cross"`
	Unknown      int64        `key:"unknown" name:"unknown" help:"paths over forwarding tables that were not read"`
	NotMinimal   answer.Value `key:"not_minimal" name:"not minimal" kind:"int" help:"paths over more links than needed"`
}

// pathCountsOf returns counts of paths by outcome. atOnce is the number of paths to or from end ports that are
// unreachable or have no LID.
func pathCountsOf(c *reach.Counts, atOnce int64) pathCounts {
	return pathCounts{c.Paths, c.Delivered, atOnce, c.Unreachable - atOnce, c.Loops, c.Misdelivered, c.TooLong,
		c.Unknown, answer.Int(c.NotMinimal)}
}

// reachability counts paths by outcome. If switches route adaptively, it also counts them over all choices.
type reachability struct {
	Ends            int                   `key:"ends" name:"end ports"`
	Unassigned      int                   `key:"unassigned" help:"end ports without a LID"`
	UnreachableEnds int                   `key:"unreachable_ends" name:"unreachable end ports"`
	Pairs           int64                 `key:"pairs" name:"pairs"`
	LostPairs       int64                 `key:"lost_pairs" name:"lost pairs"`
	LuckPairs       int64                 `key:"luck_pairs" help:"pairs with a path that arrives by some choices"`
	UnknownPairs    int64                 `key:"unknown_pairs"`
	Counts          pathCounts            `prefix:""`
	Adaptive        *feature.ChoiceCounts `prefix:"adaptive_"` // nil if no switch routes adaptively
	Linear          *pathCounts           `prefix:"linear_"`   // by the linear tables, with adaptive routing
	Unreachable     answer.Value          `key:"unreachable_ports" kind:"list" help:"unreachable end ports"`
	WithoutLID      answer.Value          `key:"unassigned_ports" kind:"list" help:"other end ports, without a LID"`
	Took            time.Duration         `key:"seconds"`

	// For text, by the linear tables.
	Arrive  int64        `name:"arrive"`
	Longer  int64        `name:"longer than needed"`
	Bad     answer.Value `name:"bad paths" kind:"text"`
	NotRead int64        `name:"over unread tables"`
	Names   string       `name:"unreachable names"`
	From    answer.Value `key:"seen_from" name:"seen from" kind:"place" help:"the port from which it is tested"`
	NoLID   string       `name:"unassigned names"`

	loopsOnly bool
	counts    reach.Counts
	linear    *reach.Result
	troubles  []trouble
}

// trouble is a path by the linear tables that does not arrive, or whose outcome is unknown.
type trouble struct {
	From     answer.Value `key:"from" kind:"place"`
	FromName string       `name:"FROM"`
	To       answer.Value `key:"to" kind:"place"`
	ToName   string       `name:"TO"`
	LID      uint16       `key:"lid" name:"LID" kind:"lid"`
	Ending   string       `key:"ending" name:"RESULT"`
	Why      string       `key:"why" name:"CAUSE"`
	answer.Lead
}

// linksCount is the number of paths that have the same number of links.
type linksCount struct {
	Links   int          `key:"links" name:"LINKS"`
	Paths   int64        `key:"paths" name:"PATHS"`
	Longest answer.Value `key:"longest" name:"LONGEST" kind:"int" help:"paths by their longest adaptive choice"`
}

func linksCounts(paths, longest []int64) []linksCount {
	var rows []linksCount
	for links := range max(len(paths), len(longest)) {
		r := linksCount{Links: links, Paths: at(paths, links)}
		if longest != nil {
			r.Longest = answer.Int(at(longest, links))
		}
		if r.Paths > 0 || at(longest, links) > 0 {
			rows = append(rows, r)
		}
	}
	return rows
}

func at(counts []int64, i int) int64 {
	if i < len(counts) {
		return counts[i]
	}
	return 0
}

const linksForm = "    {paths} over {links|link}"

var (
	linksTable = answer.Table[linksCount]{
		Key: "links", Title: "paths by links", TextOnly: true, Help: "paths by the links that they cross",
		Fields: answer.Fields[linksCount](), Row: linksForm,
	}
	linearTable = answer.Table[linksCount]{Key: "linear_links", Title: "paths of the linear tables by links",
		TextOnly: true, Fields: answer.Fields[linksCount](), Row: linksForm}
	troubles = answer.Table[trouble]{
		Key: "troubles", Title: "paths that do not arrive", Help: "the first paths of each kind",
		Fields: answer.Fields[trouble](),
		Row:    "  {FROM} -> {TO} (LID {lid|#}): {why}",
	}
	reachDecl = declareReach("check reach", "reach of {of}: {ends|end port}, {pairs|pair}, {paths|path}")
	loopsDecl = declareReach("check loops", "loops of {of}: {ends|end port}, {pairs|pair}, {paths|path}")
)

func declareReach(command, title string) *answer.Decl[*reachability] {
	is := func(loopsOnly bool, also func(*reachability) bool) func(*reachability) bool {
		return func(r *reachability) bool { return r.loopsOnly == loopsOnly && (also == nil || also(r)) }
	}
	adaptive := is(false, func(r *reachability) bool { return r.Adaptive != nil })
	layout := []answer.Item[*reachability]{
		{Line: "  {loops} loop", When: is(true, nil)},
		{Line: "[  {unknown} unknown: over tables that were not read]", When: is(true, nil)},
	}
	layout = append(layout, feature.ChoiceItems(func(r *reachability) *feature.ChoiceCounts {
		return r.Adaptive
	}, is(false, nil))...)
	return &answer.Decl[*reachability]{
		Command: command, Help: "how the paths between all end ports end", Title: title,
		Facts: answer.Fields[*reachability](),
		Layout: append(layout, []answer.Item[*reachability]{
			{Line: "  by the linear tables alone:", When: adaptive},
			{Line: "  {arrive} arrive, {longer than needed} of them over more links than needed", When: is(false, nil)},
			{Table: answer.Show(&linksTable, (*reachability).links), When: is(false, func(r *reachability) bool {
				return r.Adaptive == nil
			})},
			{Table: answer.Show(&linearTable, (*reachability).linearLinks), When: adaptive},
			{Line: "{?bad paths}  {bad paths}", When: is(false, nil)},
			{Line: "[  {over unread tables} unknown: over tables that were not read]", When: is(false, nil)},
			{
				Line: "  {lost_pairs} of {pairs|pair} lost[, {luck_pairs} arrive by luck]",
				When: is(false, func(r *reachability) bool { return r.LostPairs+r.LuckPairs > 0 }),
			},
			{
				Line: "[  unreachable from {seen_from}: {unreachable_ends|end port}: {unreachable names}]",
				When: is(false, nil),
			},
			{Line: "[  without a LID: {unassigned|end port}: {unassigned names}]", When: is(false, nil)},
			{Table: answer.Show(&troubles, (*reachability).listed)},
		}...),
		Verdict: (*reachability).verdict, Fails: answer.Always,
	}
}

func (r *reachability) links() answer.Rows[linksCount] {
	if r.Adaptive != nil {
		return answer.Slice(linksCounts(r.Adaptive.Result.Fewest, r.Adaptive.Result.Most))
	}
	return answer.Slice(linksCounts(r.linear.Links, nil))
}

func (r *reachability) linearLinks() answer.Rows[linksCount] {
	if r.Adaptive == nil {
		return answer.Rows[linksCount]{}
	}
	return answer.Slice(linksCounts(r.linear.Links, nil))
}

// listed returns the troubles.
func (r *reachability) listed() answer.Rows[trouble] {
	rows := answer.Slice(r.troubles)
	if len(r.troubles) > 0 {
		all := r.linear.Loops
		if !r.loopsOnly {
			all = r.linear.Bad() + r.linear.Unknown - r.linear.UnlistedPaths
		}
		rows.More = all - int64(len(r.troubles))
	}
	return rows
}

func (r *reachability) verdict() (answer.Verdict, string) {
	c := &r.counts
	v := c.Verdict()
	if r.Adaptive != nil && r.Adaptive.Luck > 0 {
		v = answer.Found
	}
	if r.loopsOnly {
		v = c.LoopVerdict()
	}
	switch {
	case v == answer.OK:
		return v, ""
	case v == answer.Unknown:
		return v, feature.UnknownPathsText(c.Unknown, c.Paths)
	case r.loopsOnly:
		return v, fmt.Sprintf("%d of %d paths loop", c.Loops, c.Paths)
	case r.Adaptive != nil:
		n := r.Adaptive.Result
		return v, fmt.Sprintf("%d of %d paths may not arrive: %d never, %d by luck", n.Never+n.Luck, n.Paths,
			n.Never, n.Luck)
	}
	return v, fmt.Sprintf("%d of %d paths do not arrive as they should: %s", c.Bad(), c.Paths, r.badText())
}

// badText lists how many paths by the linear tables fail, by outcome.
func (r *reachability) badText() string {
	n, atOnce := r.linear, "unreachable"
	switch {
	case r.Unassigned > 0 && r.UnreachableEnds > 0:
		atOnce = "unreachable or without a LID"
	case r.Unassigned > 0:
		atOnce = "without a LID"
	}
	var words []string
	for _, k := range []struct {
		n    int64
		what string
	}{{n.UnlistedPaths, atOnce}, {n.Unreachable - n.UnlistedPaths, "at a dead end"}, {n.Loops, "in loops"},
		{n.Misdelivered, "misdelivered"}, {n.TooLong, "too long"}} {
		if k.n > 0 {
			words = append(words, fmt.Sprintf("%d %s", k.n, k.what))
		}
	}
	return strings.Join(words, ", ")
}

func reaches(c *feature.Call, st *session.State, p *session.Picture) error {
	r, err := reachOf(c, p, false)
	if err != nil {
		return err
	}
	return c.Answer(reachDecl.Answer(basis(st, p), r))
}

func loops(c *feature.Call, st *session.State, p *session.Picture) error {
	r, err := reachOf(c, p, true)
	if err != nil {
		return err
	}
	return c.Answer(loopsDecl.Answer(basis(st, p), r))
}

// maxNamed is the maximum number of end ports that text names as unreachable or without a LID.
const maxNamed = 10

// reachOf follows the paths of a state through the linear tables. If switches route adaptively, it also follows all
// their choices.
func reachOf(c *feature.Call, p *session.Picture, loopsOnly bool) (*reachability, error) {
	start, f := time.Now(), p.Fabric
	linear, err := c.Session.Analysis().Reach(c.Ctx, p.Tables, reach.Options{Switches: c.Flag("switches")})
	if err != nil {
		return nil, err
	}
	r := &reachability{
		Ends: linear.Ends, Unassigned: linear.Unassigned, UnreachableEnds: linear.UnreachableEnds, Pairs: linear.Pairs,
		LostPairs: linear.LostPairs, UnknownPairs: linear.UnknownPairs,
		Counts: pathCountsOf(&linear.Counts, linear.UnlistedPaths), counts: linear.Counts,
		Arrive: linear.Delivered + linear.TooLong, Longer: linear.NotMinimal, NotRead: linear.Unknown,
		loopsOnly: loopsOnly, linear: linear,
	}
	if linear.Bad() > 0 {
		r.Bad = answer.Text(r.badText())
	}
	for _, t := range linear.Troubles {
		if loopsOnly && t.Verdict != walk.Loop {
			continue
		}
		path := walk.Between(p.Tables, t.Src, t.Dst, t.LID)
		r.troubles = append(r.troubles, trouble{
			answer.Port(f, t.Src), f.PortName(t.Src), answer.Port(f, t.Dst), f.PortName(t.Dst), t.LID,
			t.Verdict.String(), path.Explain(f), feature.ToTrace(p, t.Src, t.Dst, t.LID),
		})
	}
	ends, unreachable := f.Ends(c.Flag("switches"))
	ends = slices.DeleteFunc(slices.Clone(ends), func(e fabric.PortIndex) bool { return f.Ports[e].LID != 0 })
	if len(unreachable) > 0 {
		r.From = answer.Port(f, f.SMPort)
	}
	r.Unreachable, r.Names = feature.Ports(f, unreachable), prose.List(prose.Words(unreachable, f.PortName), maxNamed)
	r.WithoutLID, r.NoLID = feature.Ports(f, ends), prose.List(prose.Words(ends, f.PortName), maxNamed)
	if p.Tables.Adaptive != nil {
		if err := r.follow(c, p); err != nil {
			return nil, err
		}
	}
	r.Took = time.Since(start)
	return r, nil
}

// follow follows all choices of adaptive routing.
func (r *reachability) follow(c *feature.Call, p *session.Picture) error {
	counts, err := c.Choices(p)
	if err != nil {
		return err
	}
	n, linear := counts.Result, r.Counts
	r.Adaptive, r.Linear = counts, &linear
	r.LostPairs, r.LuckPairs, r.UnknownPairs = n.LostPairs, n.LuckPairs, n.UnknownPairs
	r.counts = reach.Counts{Paths: n.Paths, Delivered: n.Sure, Unreachable: n.Never, Loops: n.Loops, Unknown: n.Unknown}
	r.Counts = pathCountsOf(&r.counts, r.linear.UnlistedPaths)
	r.Counts.NotMinimal = answer.NotRead()
	counts.More = n.Luck + n.Never + n.Unknown - r.linear.UnlistedPaths - int64(len(n.Troubles))
	return nil
}
