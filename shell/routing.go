// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/changes/incremental"
	"example.org/ibconsole/routing/changes/persist"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

func loadOptions(kind string) []lang.Option {
	over := lang.Option{Name: "over", Kind: lang.KindWord, Words: []string{"yes", "no"},
		Summary: "no: take the file by itself; yes: lay it over the tables and the LIDs that are there, by GUID"}
	switch kind {
	case "routing":
		return []lang.Option{{Name: "reroute", Kind: lang.KindWord, Words: []string{"yes", "no"},
			Summary: "no: keep the routes in spite of what has changed, and list the pairs that this leaves unconnected; yes"}}
	case "lfts", "fdbs":
		return []lang.Option{{Name: "reroute", Kind: lang.KindWord, Words: []string{"no"},
			Summary: "these routes are kept as they are; no lists the pairs that this leaves unconnected, too"}}
	case "topology":
		return []lang.Option{{Name: "as", Kind: lang.KindWord, Words: []string{"ibsim"},
			Summary: "ibsim: read it by ibsim's rules throughout, for comparisons over ibsim; else what it states is so"},
			{Name: "strict", Kind: lang.KindWord, Words: []string{"yes", "no"},
				Summary: "yes: refuse a file of which something cannot be read; no: leave that out, and list it"},
			over}
	case "subnet":
		return []lang.Option{over}
	}
	return nil
}

// routingAnswer is what loading a saved routing says.
type routingAnswer struct {
	Kind     string       `json:"kind"`
	File     string       `json:"file"`
	Switches int          `json:"switches"`
	Entries  int          `json:"entries"`
	Changed  int          `json:"changed"`
	Unread   int          `json:"unread,omitempty"`
	Engine   string       `json:"engine,omitempty"`
	How      string       `json:"how"`
	RoutedBy string       `json:"routed_by,omitempty"`
	Refused  []string     `json:"refused,omitempty"`
	MinHop   bool         `json:"min_hop_valid"`
	Roots    bool         `json:"roots_valid"`
	Rows     []routingRow `json:"rows"`
	Trees    []string     `json:"invalid_trees,omitempty"`
	Renewed  []string     `json:"renewed_trees,omitempty"`
	NoPath   int          `json:"without_a_path,omitempty"`
	Notes    []string     `json:"notes,omitempty"`
	*lostAnswer
}

// routingRow is a row of the memo's table 1 with what was found of it.
type routingRow struct {
	Row     string   `json:"row"`
	Count   int      `json:"count"`
	MinHop  string   `json:"min_hop"`
	LFT     string   `json:"lft"`
	MFT     string   `json:"mft"`
	Roots   string   `json:"roots"`
	Changes []string `json:"changes"`
}

func validWord(invalid bool) string { return prose.When(invalid, "invalid", "valid") }

// routingRows has a row twice where some of its changes invalidate the min-hop tables and others do not.
func routingRows(r *compute.Brought) []routingRow {
	rows := []routingRow{}
	names, of := r.Rows()
	for _, name := range names {
		for _, minHop := range []bool{true, false} {
			row := routingRow{Row: name, MinHop: validWord(minHop)}
			for _, v := range of[name] {
				if v.MinHop != minHop {
					continue
				}
				row.LFT, row.MFT, row.Roots = extentWord(v.LFT), extentWord(v.LFT), validWord(v.Roots())
				row.Changes = append(row.Changes, v.Change.String())
				row.Count++
			}
			if row.Count > 0 {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

func extentWord(e incremental.Extent) string {
	return prose.When(e == incremental.NoRoutes, "valid", "invalid: "+string(e))
}

func (c *call) showRouting(kind string, rep *session.LoadReport) error {
	r := rep.Routing
	a := routingAnswer{
		Kind: kind, File: c.Arg(0), Switches: rep.Switches, Entries: rep.Entries, Changed: r.Changed, Unread: r.Unread, Engine: r.Engine, How: string(r.How),
		RoutedBy: r.RoutedBy, Refused: prose.Words(r.Refusals, engines.Refusal.String), MinHop: r.MinHop, Roots: r.Judgement.Roots, Rows: routingRows(r), NoPath: r.Unreached, Notes: rep.Notes, lostAnswer: newLost(rep.Lost),
	}
	a.Trees, a.Renewed = mlids(r.Trees), mlids(r.Made)
	return c.out.Answer(&a)
}

const maxChangesNamed = 4 // how many changes of a row the text names

func (a *routingAnswer) Text(w io.Writer) {
	kept := a.lostAnswer != nil
	if len(a.Rows) == 0 {
		_, _ = fmt.Fprintln(w, "the subnet is the one that the routes were made for")
	}
	for _, r := range a.Rows {
		_, _ = fmt.Fprintf(w, "%s: %d\n  min-hop tables %s; LFTs %s; MFTs %s; roots %s\n", r.Row, r.Count, r.MinHop, r.LFT, r.MFT, r.Roots)
		for _, change := range r.Changes[:min(len(r.Changes), maxChangesNamed)] {
			_, _ = fmt.Fprintf(w, "  %s\n", change)
		}
		if more := len(r.Changes) - maxChangesNamed; more > 0 {
			_, _ = fmt.Fprintf(w, "  and %d more\n", more)
		}
	}
	list(w, "refused by", a.Refused)
	how := a.How
	switch {
	case kept && len(a.Rows) > 0:
		how = "kept as saved, in spite of the changes"
	case a.RoutedBy != "":
		how += ", by " + a.RoutedBy
	}
	_, _ = fmt.Fprintf(w, "loaded %s on %s from %s: %s, %d entries other than saved%s; staged, not written\n",
		count(a.Entries, "entry"), count(a.Switches, "switch"), quoteFile(a.File), how, a.Changed, diff.NotCompared(a.Unread))
	if a.How == string(persist.Kept) && !kept && len(a.Rows) > 0 {
		_, _ = fmt.Fprintln(w, "  nothing had to be computed")
	}
	a.trees(w, kept)
	if a.NoPath > 0 {
		_, _ = fmt.Fprintf(w, "  %s without a path, left as they are\n", count(a.NoPath, "entry"))
	}
	a.lostAnswer.text(w)
	list(w, "note", a.Notes)
}

// trees says what became of multicast trees that were invalid.
func (a *routingAnswer) trees(w io.Writer, kept bool) {
	none := slices.DeleteFunc(slices.Clone(a.Trees), func(mlid string) bool { return slices.Contains(a.Renewed, mlid) })
	for _, x := range []struct {
		what  string
		mlids []string
	}{{"made anew", a.Renewed}, {"gone, as no group is known that has them", none}} {
		if kept {
			x.what = "kept as saved, and BROKEN"
		}
		if len(x.mlids) > 0 {
			_, _ = fmt.Fprintf(w, "  multicast trees %s: %s\n", x.what, strings.Join(x.mlids, ", "))
		}
	}
}

// mlids are multicast LIDs in words.
func mlids(all []uint16) (words []string) {
	for _, mlid := range all {
		words = append(words, fmt.Sprintf("0x%04x", mlid))
	}
	return words
}

// lostAnswer says which paths are left unconnected.
type lostAnswer struct {
	Lost    int64              `json:"unconnected"`
	Unknown int64              `json:"unknown"`
	Pairs   []session.LostPath `json:"unconnected_pairs"`
	of      int64
}

func newLost(l *session.Lost) *lostAnswer {
	if l == nil {
		return nil
	}
	return &lostAnswer{l.Count, l.Unknown, l.Examples, l.Of}
}

const maxPairsNamed = 20 // how many pairs the text lists

func (a *lostAnswer) text(w io.Writer) {
	if a == nil {
		return
	}
	_, _ = fmt.Fprintf(w, "unconnected: %d of %d paths\n", a.Lost, a.of)
	if a.Unknown > 0 {
		_, _ = fmt.Fprintf(w, "unknown: %d of %d paths, over tables that were not read\n", a.Unknown, a.of)
	}
	for _, p := range a.Pairs[:min(len(a.Pairs), maxPairsNamed)] {
		_, _ = fmt.Fprintf(w, "  %s -> %s: %s\n", p.Src, p.Dst, p.Why)
	}
	if named := int64(min(len(a.Pairs), maxPairsNamed)); a.Lost > named {
		_, _ = fmt.Fprintf(w, "  and %d more (--json lists up to 1000 of a kind)\n", a.Lost-named)
	}
}
