// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/shell/session"
)

var errNoRanks = errors.New("the engine that routed does not rank switches (try: engine updn; route)")

type rankRow struct {
	leads
	Switch string `json:"switch"`
	GUID   string `json:"guid"`
	LID    uint16 `json:"lid"`
	Rank   *int32 `json:"rank"`
	Root   bool   `json:"root"`
}

func (r rankRow) Cells() []any {
	rank := "-"
	if r.Rank != nil {
		rank = fmt.Sprint(*r.Rank)
	}
	return []any{rank, lidText(r.LID), r.GUID, r.Switch}
}

func showRoots(c *call, st *session.State, p *session.Picture) error {
	if c.Arg(0) == histogramWord {
		return c.showHistograms(st, p)
	}
	return c.showRanks(st, p, true)
}

func showAllRanks(c *call, st *session.State, p *session.Picture) error {
	return c.showRanks(st, p, false)
}

// showRanks lists switches by rank, or the roots alone.
func (c *call) showRanks(st *session.State, p *session.Picture, rootsOnly bool) error {
	if p.Ranks == nil && p.Roots == nil {
		return errNoRanks
	}
	c.out.note("of %s", st.Title(p))
	var rows []rankRow
	for _, sw := range byRank(p) {
		root := slices.Contains(p.Roots, sw)
		if rootsOnly && !root {
			continue
		}
		f := p.Fabric
		r := rankRow{leads: leads{toNode(f, f.Switches[sw])}, Switch: f.NodeName(f.Switches[sw]), GUID: guidText(f.SwitchNode(sw).GUID), LID: f.SwitchLID(sw), Root: root}
		if p.Ranks != nil && p.Ranks[sw] != routing.Unranked {
			r.Rank = &p.Ranks[sw]
		}
		rows = append(rows, r)
	}
	return c.list([]string{"RANK", "LID", "GUID", "NAME"}, eachRow(rows))
}

func byRank(p *session.Picture) []fabric.SwitchIndex {
	all := make([]fabric.SwitchIndex, len(p.Fabric.Switches))
	for i := range all {
		all[i] = fabric.SwitchIndex(i)
	}
	if p.Ranks != nil {
		slices.SortStableFunc(all, func(a, b fabric.SwitchIndex) int { return cmp.Compare(p.Ranks[a], p.Ranks[b]) })
	}
	return all
}
