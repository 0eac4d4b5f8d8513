// SPDX-License-Identifier: Apache-2.0

package load

import (
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/routing/changes/incremental"
	"example.org/ibconsole/routing/changes/persist"
	"example.org/ibconsole/routing/compute"
	"example.org/ibconsole/routing/engines"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/session/loading"
)

// routing is the result of loading a saved routing.
type routing struct {
	File     string       `key:"file"`
	Switches int          `key:"switches"`
	Entries  int          `key:"entries" help:"entries of forwarding tables"`
	Changed  int          `key:"changed" help:"entries that differ from the saved ones"`
	Unread   int          `key:"unread" help:"switches without tables in the file; they are not compared"`
	Engine   answer.Value `key:"engine" kind:"text" help:"engine of the file"`
	How      string       `key:"how" help:"what was computed"`
	RoutedBy answer.Value `key:"routed_by" kind:"text" help:"engine that recomputed the routes"`
	Repair   answer.Value `key:"repair" name:"repair" kind:"text" help:"how broken paths were replaced"`
	Why      []string     `key:"why" help:"why repairs with fewer changes were not taken"`
	MinHop   bool         `key:"min_hop_valid" help:"the saved min-hop tables are valid"`
	Roots    bool         `key:"roots_valid" help:"the saved roots are valid"`
	Trees    []string     `key:"invalid_trees" help:"multicast LIDs with invalid saved trees"`
	Renewed  []string     `key:"renewed_trees" help:"those of them that got another tree"`
	NoPath   int          `key:"without_a_path" help:"entries that could not be repaired"`
	Notes    []string     `key:"notes"`

	unconnected `prefix:""`

	// For text.
	Compared  string   `name:"compared"`
	What      string   `name:"what was computed"`
	Same      bool     `name:"same subnet"`
	Nothing   bool     `name:"nothing computed"`
	TreeLines []string `name:"trees"`
	refused   []engines.Refusal
	rows      []change
}

// change is a row of table 1 of the memorandum on incremental routing, together with the changes of the kind that this
// row describes.
type change struct {
	Row     string   `key:"row" name:"CHANGE"`
	Count   int      `key:"count" name:"COUNT"`
	MinHop  string   `key:"min_hop" name:"MIN-HOP TABLES"`
	LFT     string   `key:"lft" name:"LFTS"`
	MFT     string   `key:"mft" name:"MFTS"`
	Roots   string   `key:"roots" name:"ROOTS"`
	Changes []string `key:"changes"`

	// The first changes, for text.
	First  string `name:"first"`
	Second string `name:"second"`
	Third  string `name:"third"`
	Fourth string `name:"fourth"`
	More   int    `name:"more"`
}

var changes = answer.Table[change]{
	Key: "rows", Title: "changes", Fields: answer.Fields[change](),
	Row: "{row}: {count}\n  min-hop tables {min_hop}; LFTs {lft}; MFTs {mft}; roots {roots}" +
		"[\n  {first}][\n  {second}][\n  {third}][\n  {fourth}][\n  and {more} more]",
}

func loadsRouting(command string) *answer.Decl[*routing] {
	return &answer.Decl[*routing]{
		Command: command, Help: "result of loading the saved routing", Action: true, Facts: answer.Fields[*routing](),
		Title: "loaded {entries|entry} on {switches|switch} from {file}: {what was computed}, {changed} entries " +
			"differ from the saved ones{compared}; staged, not written",
		Layout: slices.Concat([]answer.Item[*routing]{
			{Line: "{?same subnet}  the subnet has not changed since the routes were saved"},
			{Table: answer.Show(&changes, func(r *routing) answer.Rows[change] { return answer.Slice(r.rows) })},
			{Table: answer.Show(&feature.Refusals, func(r *routing) answer.Rows[engines.Refusal] {
				return answer.Slice(r.refused)
			})},
			{Line: "{?nothing computed}  nothing had to be computed"},
			{Line: "  multicast trees {trees}", Each: "trees"},
			{Line: "[  {without_a_path|entry} without a path, left as they are]"},
			{Line: "[  repaired with {repair}]"},
			{Line: "    rejected a repair with fewer changes: {why}", Each: "why"},
		}, unconnectedLines(func(r *routing) *unconnected { return &r.unconnected }), []answer.Item[*routing]{
			{Line: "  note: {notes}", Each: "notes"},
		}),
	}
}

func routingOf(file string, rep *loading.Report) *routing {
	b := rep.Routing
	r := &routing{
		File: file, Switches: rep.Switches, Entries: rep.Entries, Changed: b.Changed, Unread: b.Unread,
		Engine: answer.Optional(b.Engine), How: string(b.How), RoutedBy: answer.Optional(b.RoutedBy),
		Repair: answer.Optional(string(b.Repair)), Why: b.Why, MinHop: b.MinHop, Roots: b.Assessment.Roots,
		Trees: mlids(b.Trees), Renewed: mlids(b.Made), NoPath: b.Unreached, Notes: rep.Notes,
		unconnected: unconnectedOf(rep.Lost), Compared: diff.NotCompared(b.Unread), What: string(b.How),
		refused: b.Refusals, rows: rows(b),
	}
	kept := rep.Lost != nil
	r.Same = len(r.rows) == 0
	r.Nothing = b.How == persist.Kept && !kept && !r.Same
	switch {
	case kept && !r.Same:
		r.What = "kept as saved, despite the changes"
	case b.RoutedBy != "":
		r.What += ", by " + b.RoutedBy
	}
	gone := slices.DeleteFunc(slices.Clone(r.Trees), func(mlid string) bool { return slices.Contains(r.Renewed, mlid) })
	for _, x := range []struct {
		became string
		mlids  []string
	}{{"recomputed", r.Renewed}, {"removed, as they have no group", gone}} {
		if len(x.mlids) > 0 {
			r.TreeLines = append(r.TreeLines, prose.When(kept, "kept as saved, and BROKEN", x.became)+": "+
				strings.Join(x.mlids, ", "))
		}
	}
	return r
}

func mlids(all []uint16) []string { return prose.Words(all, feature.MLIDText) }

// rows returns the changes, grouped by the rows of the memorandum. A row of the memorandum appears twice if some of its
// changes invalidate the min-hop tables and others do not.
func rows(b *compute.Restored) []change {
	var all []change
	names, of := b.Rows()
	for _, name := range names {
		for _, minHop := range []bool{true, false} {
			row := change{Row: name, MinHop: validity(minHop)}
			for _, v := range of[name] {
				if v.MinHop != minHop {
					continue
				}
				row.LFT, row.MFT, row.Roots = extent(v.LFT), extent(v.LFT), validity(v.Roots())
				row.Changes = append(row.Changes, v.Change.String())
				row.Count++
			}
			for i, first := range []*string{&row.First, &row.Second, &row.Third, &row.Fourth} {
				if i < row.Count {
					*first = row.Changes[i]
					row.More = row.Count - i - 1
				}
			}
			if row.Count > 0 {
				all = append(all, row)
			}
		}
	}
	return all
}

func validity(invalid bool) string { return prose.When(invalid, "invalid", "valid") }

func extent(e incremental.Extent) string {
	return prose.When(e == incremental.NoRoutes, "valid", fmt.Sprintf("invalid: %s", e))
}
