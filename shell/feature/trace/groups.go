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

// pathGroup is a row: the paths that arrive and have the same first and the same last switch.
type pathGroup struct {
	From      answer.Value `key:"from" name:"FROM" kind:"place" help:"the first switch"`
	To        answer.Value `key:"to" name:"TO" kind:"place" help:"the last switch"`
	Paths     int64        `key:"paths" name:"PATHS"`
	Sequences int          `key:"sequences" name:"SEQUENCES" help:"different sequences of switches of the paths"`
	Path      answer.Value `key:"path" kind:"list" help:"the most frequent sequence"`
	Over      string       `name:"OVER" help:"the most frequent sequence"`
}

var pathGroupTable = answer.Table[pathGroup]{
	Key: "alike", Title: "switch pairs", Help: "paths that arrive, by first and last switch",
	Fields: answer.Fields[pathGroup](),
	Row:    "  {from} -> {to}: {paths|path} {OVER}",
}

// passedSwitch is a switch of a path.
type passedSwitch struct {
	guid  uint64
	name  string // escaped
	place answer.Value
}

func (p passedSwitch) String() string { return p.name }

func passedOf(f *fabric.Fabric, p *walk.Path) (list []passedSwitch) {
	for _, h := range p.Hops {
		if n := &f.Nodes[h.Node]; n.IsSwitch() {
			list = append(list, passedSwitch{n.GUID, f.NodeName(h.Node), answer.Node(f, h.Node)})
		}
	}
	return list
}

func passedLive(f *fabric.Fabric, p *livetrace.Path) (list []passedSwitch) {
	for i := range p.Hops {
		if h := &p.Hops[i]; h.Type == mad.NodeSwitch {
			list = append(list, passedSwitch{h.GUID, h.Name(f), liveNode(f, h)})
		}
	}
	return list
}

// liveNode returns the node of a hop. If the fabric does not have the node, the result has only its name and GUID.
func liveNode(f *fabric.Fabric, h *livetrace.Hop) answer.Value {
	if h.Node != fabric.None {
		return answer.Node(f, h.Node)
	}
	return answer.At(answer.Place{Name: h.Name(f), GUID: h.GUID, Port: -1})
}

// setPath sets the path of the row to the most frequent sequence of switches.
func (a *pathGroup) setPath(list []passedSwitch) {
	places := make([]answer.Value, len(list))
	for i, p := range list {
		places[i] = p.place
	}
	a.Path = answer.List(places)
	how := "over"
	if a.Sequences > 1 {
		how = fmt.Sprintf("over %d sequences, most over", a.Sequences)
	}
	a.Over = how + " " + strings.Join(prose.Words(list, passedSwitch.String), " ")
}

// pathGroups sorts traced paths into groups.
type pathGroups struct {
	places map[[2]uint64]int // indexes of pairs, by the GUIDs of the first and last switch
	pairs  []pathGroup
	// counts holds, by switch pair, the number of paths for each sequence of switches. The field most holds the most
	// frequent sequence.
	counts    []map[string]int64
	most      [][]passedSwitch
	sequences int64
}

// add adds a path that arrives.
func (a *pathGroups) add(list []passedSwitch) {
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
		a.pairs = append(a.pairs, pathGroup{From: first.place, To: last.place})
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

func sequenceKey(list []passedSwitch) string {
	var key strings.Builder
	for _, p := range list {
		_, _ = fmt.Fprintf(&key, "%x ", p.guid)
	}
	return key.String()
}

// addTo adds up to limit switch pairs to an answer, those with the most paths first.
func (a *pathGroups) addTo(m *many, limit int) {
	for i := range a.pairs {
		a.pairs[i].setPath(a.most[i])
	}
	slices.SortStableFunc(a.pairs, func(x, y pathGroup) int { return cmp.Compare(y.Paths, x.Paths) })
	m.SwitchPairs, m.Sequences, m.groups = int64(len(a.pairs)), a.sequences, a.pairs[:min(limit, len(a.pairs))]
}

// groupsOf returns the groups of a census.
func groupsOf(t *fabric.Tables, r *census.Result) []pathGroup {
	f := t.Fabric
	var all []pathGroup
	for i := range r.TopPairs {
		x := &r.TopPairs[i]
		p := pathGroup{From: answer.Node(f, f.Switches[x.From]), To: answer.Node(f, f.Switches[x.To]), Paths: x.Paths,
			Sequences: x.Sequences}
		of := walk.Trace(t, x.Src, x.LID)
		p.setPath(passedOf(f, &of))
		all = append(all, p)
	}
	return all
}
