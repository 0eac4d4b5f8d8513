// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/livetrace"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing/checks/census"
	"example.org/ibconsole/routing/checks/walk"
)

// alikeAnswer puts paths that arrive together by their first and last switches, and
// by those that they pass.
type alikeAnswer struct {
	SwitchPairs int64 `json:"switch_pairs"`
	// Sequences counts the different sequences of switches that the paths pass.
	Sequences int64 `json:"sequences"`
	// Alike are the switch pairs with most paths.
	Alike []alikePaths `json:"alike"`
}

type alikePaths struct {
	From      string `json:"from"`
	To        string `json:"to"`
	Paths     int64  `json:"paths"`
	Sequences int    `json:"sequences"`
	// Path are the switches that most of them pass.
	Path []string `json:"path"`
}

func (a *alikeAnswer) text(w io.Writer) {
	if a.SwitchPairs == 0 {
		return
	}
	_, _ = fmt.Fprintf(w, "%s, first and last, and %s of switches\n", prose.Count(a.SwitchPairs, "switch pair"), prose.Count(a.Sequences, "sequence"))
	for i := range a.Alike {
		p := &a.Alike[i]
		how := "over"
		if p.Sequences > 1 {
			how = fmt.Sprintf("over %d sequences, most over", p.Sequences)
		}
		_, _ = fmt.Fprintf(w, "  %s -> %s: %s %s %s\n", p.From, p.To, prose.Count(p.Paths, "path"), how, strings.Join(p.Path, " "))
	}
	if more := a.SwitchPairs - int64(len(a.Alike)); more > 0 {
		_, _ = fmt.Fprintf(w, "  and %d more\n", more)
	}
}

// alikes puts paths together that were followed one by one.
type alikes struct {
	places map[[2]uint64]int
	pairs  []alikePaths
	// passed counts the paths of each sequence, and most are the paths of the
	// sequence that most take, by switch pair.
	passed    []map[string]int64
	most      []int64
	sequences int64
}

// passed is a switch on a path.
type passed struct {
	guid uint64
	name string
}

func passedOf(f *fabric.Fabric, p *walk.Path) (list []passed) {
	for _, h := range p.Hops {
		if n := &f.Nodes[h.Node]; n.IsSwitch() {
			list = append(list, passed{n.GUID, f.NodeName(h.Node)})
		}
	}
	return list
}

func passedLive(f *fabric.Fabric, p *livetrace.Path) (list []passed) {
	for i := range p.Hops {
		if h := &p.Hops[i]; h.Type == mad.NodeSwitch {
			list = append(list, passed{h.GUID, h.Name(f)})
		}
	}
	return list
}

// add adds a path that arrives.
func (a *alikes) add(list []passed) {
	if len(list) == 0 {
		return
	}
	first, last := list[0], list[len(list)-1]
	key := [2]uint64{first.guid, last.guid}
	i, ok := a.places[key]
	if !ok {
		if a.places == nil {
			a.places = map[[2]uint64]int{}
		}
		i = len(a.pairs)
		a.places[key] = i
		a.pairs = append(a.pairs, alikePaths{From: first.name, To: last.name})
		a.passed, a.most = append(a.passed, map[string]int64{}), append(a.most, 0)
	}
	text := fmt.Sprint(list)
	p := &a.pairs[i]
	p.Paths++
	a.passed[i][text]++
	n := a.passed[i][text]
	if n == 1 {
		p.Sequences++
		a.sequences++
	}
	if n > a.most[i] {
		a.most[i], p.Path = n, nil
		for _, s := range list {
			p.Path = append(p.Path, s.name)
		}
	}
}

func (a *alikes) answer(limit int) alikeAnswer {
	slices.SortStableFunc(a.pairs, func(x, y alikePaths) int { return cmp.Compare(y.Paths, x.Paths) })
	return alikeAnswer{SwitchPairs: int64(len(a.pairs)), Sequences: a.sequences, Alike: a.pairs[:min(limit, len(a.pairs))]}
}

// alikeOf are the paths that a census found alike.
func alikeOf(t *fabric.Tables, r *census.Result) alikeAnswer {
	f := t.Fabric
	a := alikeAnswer{SwitchPairs: r.SwitchPairs, Sequences: r.Sequences}
	for i := range r.Alike {
		x := &r.Alike[i]
		p := alikePaths{From: f.NodeName(f.Switches[x.From]), To: f.NodeName(f.Switches[x.To]), Paths: x.Paths, Sequences: x.Sequences}
		path := walk.Trace(t, x.Src, x.LID)
		for _, s := range passedOf(f, &path) {
			p.Path = append(p.Path, s.name)
		}
		a.Alike = append(a.Alike, p)
	}
	return a
}
