// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/livetrace"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing/checks/census"
	"example.org/ibconsole/routing/checks/walk"
	"example.org/ibconsole/shell/answer"
)

// alikePaths are paths that arrive, with the same first and last switch.
type alikePaths struct {
	From      answer.Value `key:"from" name:"FROM" kind:"place" help:"the first switch"`
	To        answer.Value `key:"to" name:"TO" kind:"place" help:"the last switch"`
	Paths     int64        `key:"paths" name:"PATHS"`
	Sequences int          `key:"sequences" name:"SEQUENCES" help:"sequences of switches that the paths pass"`
	Path      answer.Value `key:"path" kind:"list" help:"the switches that most of them pass"`
	Over      string       `name:"OVER" help:"the switches that most of them pass"`
}

var alikeTable = answer.Table[alikePaths]{
	Key: "alike", Title: "switch pairs", Help: "paths that arrive, by their first and last switch",
	Fields: answer.Fields[alikePaths](),
	Row:    "  {from} -> {to}: {paths|path} {OVER}",
}

// passed is a switch on a path.
type passed struct {
	guid  uint64
	name  string // escaped
	place answer.Value
}

func (p passed) String() string { return p.name }

func passedOf(f *fabric.Fabric, p *walk.Path) (list []passed) {
	for _, h := range p.Hops {
		if n := &f.Nodes[h.Node]; n.IsSwitch() {
			list = append(list, passed{n.GUID, f.NodeName(h.Node), answer.Node(f, h.Node)})
		}
	}
	return list
}

func passedLive(f *fabric.Fabric, p *livetrace.Path) (list []passed) {
	for i := range p.Hops {
		if h := &p.Hops[i]; h.Type == mad.NodeSwitch {
			list = append(list, passed{h.GUID, h.Name(f), liveNode(f, h)})
		}
	}
	return list
}

// liveNode returns the node of a hop, which the fabric need not have.
func liveNode(f *fabric.Fabric, h *livetrace.Hop) answer.Value {
	if h.Node != fabric.None {
		return answer.Node(f, h.Node)
	}
	return answer.At(answer.Place{Name: h.Name(f), GUID: h.GUID, Port: -1})
}

// take takes the sequence of switches that most of the paths pass.
func (a *alikePaths) take(list []passed) {
	places := make([]answer.Value, len(list))
	for i, p := range list {
		places[i] = p.place
	}
	a.Path = answer.List(places)
	how := "over"
	if a.Sequences > 1 {
		how = fmt.Sprintf("over %d sequences, most over", a.Sequences)
	}
	a.Over = how + " " + strings.Join(prose.Words(list, passed.String), " ")
}

// alikes puts paths together that were followed one by one.
type alikes struct {
	places map[[2]uint64]int
	pairs  []alikePaths
	// counts has the paths of each sequence by switch pair, and most the sequence that most of them take.
	counts    []map[string]int64
	most      [][]passed
	sequences int64
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
		a.pairs = append(a.pairs, alikePaths{From: first.place, To: last.place})
		a.counts, a.most = append(a.counts, map[string]int64{}), append(a.most, nil)
	}
	text := sequenceKey(list)
	p := &a.pairs[i]
	p.Paths++
	a.counts[i][text]++
	n := a.counts[i][text]
	if n == 1 {
		p.Sequences++
		a.sequences++
	}
	if a.most[i] == nil || n > a.counts[i][sequenceKey(a.most[i])] {
		a.most[i] = list
	}
}

func sequenceKey(list []passed) string {
	var key strings.Builder
	for _, p := range list {
		_, _ = fmt.Fprintf(&key, "%x ", p.guid)
	}
	return key.String()
}

// into sets the switch pairs of an answer, those with most paths first.
func (a *alikes) into(m *many, limit int) {
	for i := range a.pairs {
		a.pairs[i].take(a.most[i])
	}
	slices.SortStableFunc(a.pairs, func(x, y alikePaths) int { return cmp.Compare(y.Paths, x.Paths) })
	m.SwitchPairs, m.Sequences, m.alike = int64(len(a.pairs)), a.sequences, a.pairs[:min(limit, len(a.pairs))]
}

// alikeOf returns the switch pairs of a census.
func alikeOf(t *fabric.Tables, r *census.Result) []alikePaths {
	f := t.Fabric
	var all []alikePaths
	for i := range r.TopPairs {
		x := &r.TopPairs[i]
		p := alikePaths{From: answer.Node(f, f.Switches[x.From]), To: answer.Node(f, f.Switches[x.To]), Paths: x.Paths,
			Sequences: x.Sequences}
		of := walk.Trace(t, x.Src, x.LID)
		p.take(passedOf(f, &of))
		all = append(all, p)
	}
	return all
}
