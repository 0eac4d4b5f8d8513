// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"cmp"
	"encoding/binary"
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

// pathGroups counts traced paths in groups.
type pathGroups struct {
	places    map[[2]uint64]int // indexes of groups, by the GUIDs of the first and last switch
	groups    []pathCount
	sequences map[string]int64 // paths by the GUIDs of their switches
}

// pathCount counts the paths of a group.
type pathCount struct {
	paths     int64
	sequences int
	most      int64 // paths of the most frequent sequence
	example   int   // a path of the most frequent sequence
}

// add adds a path that arrives over switches.
func (a *pathGroups) add(path int, list []passedSwitch) {
	if len(list) == 0 {
		return
	}
	if a.places == nil {
		a.places, a.sequences = map[[2]uint64]int{}, map[string]int64{}
	}
	var sequence []byte
	for _, p := range list {
		sequence = binary.NativeEndian.AppendUint64(sequence, p.guid)
	}
	key := [2]uint64{list[0].guid, list[len(list)-1].guid}
	i, ok := a.places[key]
	if !ok {
		i = len(a.groups)
		a.places[key] = i
		a.groups = append(a.groups, pathCount{})
	}
	a.sequences[string(sequence)]++
	n, g := a.sequences[string(sequence)], &a.groups[i]
	g.paths++
	if n == 1 {
		g.sequences++
	}
	if n > g.most {
		g.most, g.example = n, path
	}
}

// addTo sets the switch pairs of an answer and sorts them by number of paths, most first. The function switches returns
// those of a path.
func (a *pathGroups) addTo(m *many, limit int, switches func(path int) []passedSwitch) {
	slices.SortStableFunc(a.groups, func(x, y pathCount) int { return cmp.Compare(y.paths, x.paths) })
	m.SwitchPairs, m.Sequences = int64(len(a.groups)), int64(len(a.sequences))
	for _, g := range a.groups[:min(limit, len(a.groups))] {
		list := switches(g.example)
		p := pathGroup{From: list[0].place, To: list[len(list)-1].place, Paths: g.paths, Sequences: g.sequences}
		p.setPath(list)
		m.groups = append(m.groups, p)
	}
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
