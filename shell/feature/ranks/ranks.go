// SPDX-License-Identifier: Apache-2.0

// Package ranks shows the roots and the ranks of switches that an engine used. It also shows the distances from
// switches to hosts, from which updn finds roots.
package ranks

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/updn"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/settings"
)

const histogramWord = "histogram"

// Feature provides the commands "show roots" and "show ranks".
var Feature = feature.Feature{Name: "ranks", Commands: []feature.Command{
	{
		Path:    "show roots",
		Summary: "List the root switches of the engine",
		Help: "With the word histogram, show roots lists the distances of the hosts from each switch, by which " +
			"updn finds the roots.",
		Args:     []lang.Arg{{Kind: lang.KindWord, Words: []string{histogramWord}, Optional: true}},
		Examples: []string{"engine updn; route; show roots", "show roots histogram"},
		Answers:  []answer.Declared{rootsDecl, &histogramDecl},
		Run:      runRoots,
	},
	{
		Path:     "show ranks",
		Summary:  "List switches by their distance from the roots",
		Examples: []string{"engine updn; route; show ranks", "engine ftree; route; show ranks"},
		Answers:  []answer.Declared{ranksDecl},
		Run:      func(c *feature.Call) error { return run(c, ranksDecl, false) },
	},
}}

var errNoRanks = errors.New("the engine of these tables does not rank switches; hint: run 'engine updn; route'")

// ranked is a row: a switch of a state with its rank.
type ranked struct {
	p  *session.Picture
	sw fabric.SwitchIndex
}

func (r ranked) node() fabric.NodeIndex { return r.p.Fabric.Switches[r.sw] }

var switchField = answer.Field[ranked]{Key: "switch", Name: "SWITCH", Kind: answer.KindPlace,
	Value: func(r ranked) answer.Value {
		return answer.Node(r.p.Fabric, r.node())
	}}

func fields() []answer.Field[ranked] {
	return []answer.Field[ranked]{
		{Key: "rank", Name: "RANK", Kind: answer.KindInt, Help: "links from the nearest root",
			Value: func(r ranked) answer.Value {
				if r.p.Ranks == nil || r.p.Ranks[r.sw] == routing.Unranked {
					return answer.None()
				}
				return answer.Int(r.p.Ranks[r.sw])
			}},
		{Key: "root", Name: "ROOT", Kind: answer.KindBool, Value: func(r ranked) answer.Value {
			return answer.Bool(slices.Contains(r.p.Roots, r.sw))
		}},
		{Name: "LID", Kind: answer.KindLID, Value: func(r ranked) answer.Value {
			return answer.LID(r.p.Fabric.SwitchLID(r.sw))
		}},
		{Name: "GUID", Kind: answer.KindGUID, Value: func(r ranked) answer.Value {
			return answer.GUID(r.p.Fabric.SwitchNode(r.sw).GUID)
		}},
		switchField,
	}
}

func declare(command, key, help string) *answer.Decl[[]ranked] {
	table := &answer.Table[ranked]{Key: key, Title: key, Stream: true, Fields: fields(),
		Lead: func(r ranked) answer.Lead { return feature.ToNode(r.p.Fabric, r.node()) }}
	return &answer.Decl[[]ranked]{Command: command, Help: help, Layout: []answer.Item[[]ranked]{{
		Table: answer.Show(table, func(r []ranked) answer.Rows[ranked] { return answer.Slice(r) }),
	}}}
}

var (
	rootsDecl = declare("show roots", "roots", "the root switches of the engine")
	ranksDecl = declare("show ranks", "ranks", "the switches by rank")
)

func runRoots(c *feature.Call) error {
	if c.Arg(0) == histogramWord {
		return runHistogram(c)
	}
	return run(c, rootsDecl, true)
}

func run(c *feature.Call, decl *answer.Decl[[]ranked], rootsOnly bool) error {
	st, p, err := c.State()
	switch {
	case err != nil:
		return err
	case p.Ranks == nil && p.Roots == nil:
		return errNoRanks
	}
	var rows []ranked
	for sw := range p.Fabric.Switches {
		if r := (ranked{p, fabric.SwitchIndex(sw)}); !rootsOnly || slices.Contains(p.Roots, r.sw) {
			rows = append(rows, r)
		}
	}
	if p.Ranks != nil {
		slices.SortStableFunc(rows, func(a, b ranked) int { return cmp.Compare(p.Ranks[a.sw], p.Ranks[b.sw]) })
	}
	return c.Answer(decl.Answer(st.Basis(p, session.NeedLinks), rows))
}

// distances is the answer with the distances of the hosts from each switch.
type distances struct {
	hosts      int
	named, dn  bool // roots are from root_guid_file; the chain has dnup
	histograms []distance
}

// distance is a row of the table: the distances of the hosts from one switch.
type distance struct {
	f *fabric.Fabric
	*updn.Histogram
}

var histogramTable = answer.Table[distance]{
	Key: "histograms", Title: "distances", Stream: true,
	Fields: []answer.Field[distance]{
		{Key: "root", Name: "ROOT", Kind: answer.KindBool, Help: "updn uses the switch as a root",
			Value: func(d distance) answer.Value { return answer.Bool(d.Root()) }},
		{Key: "distances_over_90_percent", Name: ">90%", Kind: answer.KindInt,
			Help:  "distances at which more than 90 % of the host ports are",
			Value: func(d distance) answer.Value { return answer.Int(d.OverMost) }},
		{Key: "distances_over_5_percent", Name: ">5%", Kind: answer.KindInt,
			Help:  "distances at which more than 5 % of the host ports are",
			Value: func(d distance) answer.Value { return answer.Int(d.OverFew) }},
		{Name: "HOPS:HOSTS", Help: "number of hosts at each distance", Kind: answer.KindText,
			Value: func(d distance) answer.Value {
				return answer.Text(d.text())
			}},
		{Key: "ports_by_hops", Kind: answer.KindList, Help: "host ports at each number of hops, from 0",
			Value: func(d distance) answer.Value {
				var counts []answer.Value
				farthest := 0
				for hops, n := range d.Ports {
					if counts = append(counts, answer.Int(n)); n > 0 {
						farthest = hops
					}
				}
				return answer.List(counts[:farthest+1])
			}},
		{Name: "GUID", Kind: answer.KindGUID, Value: func(d distance) answer.Value {
			return answer.GUID(d.f.SwitchNode(d.Switch).GUID)
		}},
		{Key: "switch", Name: "SWITCH", Kind: answer.KindPlace,
			Value: func(d distance) answer.Value { return answer.Node(d.f, d.f.Switches[d.Switch]) }},
	},
	Lead: func(d distance) answer.Lead { return feature.ToNode(d.f, d.f.Switches[d.Switch]) },
}

var histogramDecl = answer.Decl[distances]{
	Command: "show roots", Help: "the distances of the hosts from each switch",
	Title: "distances of {of}: {hosts|host port}",
	Facts: []answer.Field[distances]{
		answer.IntField("hosts", "host ports", "", func(d distances) int { return d.hosts }),
		answer.BoolField("roots_named", "", "the roots are from root_guid_file", func(d distances) bool {
			return d.named
		}),
		answer.BoolField("dnup", "", "the chain of engines has dnup", func(d distances) bool { return d.dn }),
	},
	Layout: []answer.Item[distances]{
		{
			Line: "  a switch is a root for updn if more than 90 % of the host ports are at one distance and at most " +
				"5 % at any other",
		},
		{Line: "{?roots_named}  the roots are from root_guid_file: updn searches for none"},
		{Line: "{?dnup}  dnup has no roots: it ranks switches by distance from the hosts"},
		{
			Table: answer.Show(&histogramTable, func(d distances) answer.Rows[distance] {
				return answer.Slice(d.histograms)
			}),
		},
	},
}

func runHistogram(c *feature.Call) error {
	st, p, err := c.State()
	if err != nil {
		return err
	}
	opt := st.Settings.Job().Options
	all, hosts, err := updn.Histograms(c.Ctx, p.Fabric, &opt)
	if err != nil {
		return err
	}
	d := distances{
		hosts: hosts, named: rootsNamed(&st.Settings) && !opt.DetectRoots,
		dn: slices.Contains(st.Settings.Chain, (updn.DnUp{}).Name()),
	}
	for i := range all {
		d.histograms = append(d.histograms, distance{p.Fabric, &all[i]})
	}
	return c.Answer(histogramDecl.Answer(st.Basis(p, session.NeedLinks), d))
}

func rootsNamed(s *settings.Settings) bool {
	return slices.ContainsFunc(s.Given, func(g settings.Setting) bool { return g.Name == "root_guid_file" })
}

// text returns the number of hosts at each distance, such as "2:8 4:24": 8 hosts at 2 hops, 24 hosts at 4 hops.
func (d distance) text() string {
	var bars []string
	for hops, n := range d.Ports {
		if n > 0 {
			bars = append(bars, fmt.Sprintf("%d:%d", hops, n))
		}
	}
	return strings.Join(bars, " ")
}
