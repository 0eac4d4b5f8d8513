// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"
)

// maker makes a scene by random commands.
type maker struct {
	*exam
}

func pick[T any](m maker, list []T) T { return list[m.rnd.IntN(len(list))] }

// actions runs some commands that change something.
func (m maker) actions() {
	for range m.rnd.IntN(7) {
		switch m.rnd.IntN(11) {
		case 0, 1, 2:
			m.fail()
		case 3:
			m.engine()
		case 4, 5:
			m.engine()
			m.route("route")
		case 6:
			m.route("route incremental")
		case 7:
			m.restore()
		case 8:
			m.undo()
		case 9:
			m.add()
		case 10:
			m.commit()
		}
	}
}

// changed runs a command that may fail, and returns the numbers of the changes that it makes or undoes.
func (m maker) changed(format string, args ...any) (numbers []int) {
	command := fmt.Sprintf(format, args...)
	out, _, err := m.run(command, true)
	if err != nil {
		return nil
	}
	m.scene = append(m.scene, command)
	for _, o := range readObjects(m.t, command, out) {
		for i := range o.length("changes") {
			v, _ := o.at(fmt.Sprintf("changes.%d.number", i))
			numbers = append(numbers, decimal(fmt.Sprint(v)))
		}
	}
	return numbers
}

func (m maker) engine() {
	name, lmc := pick(m, engineNames), m.rnd.IntN(3)
	if m.do(fmt.Sprintf("engine %s lmc=%d", name, lmc)) == nil {
		m.exam.engine, m.lmc = name, lmc
	}
}

func (m maker) route(command string) {
	if m.do(command) == nil {
		m.routed = slices.Clone(m.changes)
	}
}

// commit writes staged tables to the switches.
func (m maker) commit() {
	if m.do("write on") == nil {
		_ = m.do("commit yes force-unreachable force-interrupt force-loop force-incomplete force-overwrite abandon " +
			"journal=no")
	}
}

// saved continues with a file or folder that a state was written to.
func (m maker) saved(t *testing.T) *exam {
	m.readStates()
	of := m.state(pick(m, []string{"live", "staged", "whatif"}))
	if of == nil {
		return m.exam
	}
	kind := pick(m, []string{"snapshot", "topology", "ibdiagnet"})
	if of.hasUnreachable() && kind == "ibdiagnet" { // its folder does not contain which nodes belonged to the subnet
		kind = "snapshot"
	}
	file, source := filepath.Join(t.TempDir(), "saved"), "file:"
	if kind == "ibdiagnet" {
		source = "ibdiagnet:"
	}
	if m.do(fmt.Sprintf("dump %s %s of=%s", kind, file, of.name)) != nil {
		return m.exam
	}
	x := &exam{console: open(t, source+file), rnd: m.rnd}
	if kind == "snapshot" {
		x.written = of
	}
	x.made = append([]string{"-s " + m.source}, m.scene...)
	maker{x}.actions()
	return x
}

// base returns the subnet from which the what-if starts.
func (m maker) base() *subnet {
	text, err := m.dump("topology", "base")
	if err != nil {
		m.t.Fatal(err)
	}
	return readSubnet(m.t, text)
}

// fail simulates the failure of a link, a switch or a host.
func (m maker) fail() {
	w := m.plugged()
	n := w.nodes[pick(m, slices.Sorted(maps.Keys(w.nodes)))]
	command, cables := "fail node "+n.word(), w.at(n.guid)
	switch {
	case m.rnd.IntN(2) > 0:
		num := 1 + m.rnd.IntN(n.count)
		command = fmt.Sprintf("fail link %s %d", n.word(), num)
		cables = slices.DeleteFunc(cables, func(c cable) bool { return !slices.Contains(c[:], plug{n.guid, num}) })
	case n.isSwitch():
		command = "fail switch " + n.word()
	}
	for _, number := range m.changed("%s", command) {
		m.changes = append(m.changes, change{number: number, what: command, failed: cables})
	}
}

// plugged returns the subnet with additions, moves and failures.
func (m maker) plugged() *whole {
	all := slices.Clone(m.changes)
	for i := range all {
		all[i].failed = nil
	}
	return wholeOf(m.base(), all)
}

// word returns a node as a word for commands, by the GUID of an end port.
func (n *node) word() string {
	for num := range n.count + 1 {
		if p := n.ports[num]; p != nil && p.guid != 0 {
			return fmt.Sprintf("guid:0x%x", p.guid)
		}
	}
	return n.name
}

// restore undoes a failure.
func (m maker) restore() {
	if len(m.changes) == 0 {
		return
	}
	if m.rnd.IntN(4) == 0 {
		if m.do("restore all") == nil {
			m.changes = nil
		}
		return
	}
	c := pick(m, m.changes)
	if len(c.failed) == 0 {
		return
	}
	m.takenBack(m.changed("restore%s", c.what[len("fail"):]))
}

// undo undoes a change.
func (m maker) undo() {
	if len(m.changes) > 0 {
		m.takenBack(m.changed("undo %d", pick(m, m.changes).number))
	}
}

// takenBack removes changes that were undone.
func (m maker) takenBack(numbers []int) {
	m.changes = slices.DeleteFunc(m.changes, func(c change) bool { return slices.Contains(numbers, c.number) })
}

// add plugs a cable, a switch or a host into free ports, or moves a host's cable to one.
func (m maker) add() {
	w := wholeOf(m.base(), m.changes)
	free := m.freePorts(w)
	if len(free) < 2 {
		return
	}
	guid, number := 0xa00000+0x100*uint64(m.rnd.IntN(0x100)), m.rnd.IntN(1000)
	word := func(p plug) string { return fmt.Sprintf("%q", fmt.Sprintf("%s/%d", w.nodes[p.guid].name, p.num)) }
	c, command := change{}, ""
	switch m.rnd.IntN(4) {
	case 0:
		command = fmt.Sprintf("add link %s %s", word(free[0]), word(free[1]))
		c.added = []cable{cableOf(free[0], free[1])}
	case 1:
		command = fmt.Sprintf("add node new-%d %s guid=0x%x", number, word(free[0]), guid)
		c.node = newNode('C', guid, fmt.Sprintf("new-%d", number), 1)
		c.added = []cable{cableOf(free[0], plug{guid, 1})}
	case 2:
		ports := 2 + m.rnd.IntN(5)
		command = fmt.Sprintf("add switch new-%d %s %s guid=0x%x ports=%d", number, word(free[0]), word(free[1]),
			guid, ports)
		c.node = newNode(kindSwitch, guid, fmt.Sprintf("new-%d", number), ports)
		c.added = []cable{cableOf(free[0], plug{guid, 1}), cableOf(free[1], plug{guid, 2})}
	default:
		at, from := m.someHost(w)
		if from == (cable{}) {
			return
		}
		command = fmt.Sprintf("move node %s %s", word(at), word(free[0]))
		c.added, c.removed = []cable{cableOf(at, free[0])}, []cable{from}
	}
	for _, n := range m.changed("%s", command) {
		c.number, c.what = n, command
		m.changes = append(m.changes, c)
	}
}

// newNode is an added node, with its end port. The GUID of a host's port follows that of the node.
func newNode(kind byte, guid uint64, name string, count int) *node {
	n := &node{kind: kind, guid: guid, desc: name, name: name, count: count, ports: map[int]*port{}}
	end := &port{node: n, num: n.endNumber(), guid: guid + uint64(n.endNumber())}
	n.ports[end.num] = end
	return n
}

// endNumber returns the number of the only end port of a switch, or of a host with one port.
func (n *node) endNumber() int {
	if n.isSwitch() {
		return 0
	}
	return 1
}

// freePorts returns the switch ports without a cable, in random order.
func (m maker) freePorts(w *whole) (free []plug) {
	used := map[plug]bool{}
	for c := range m.plugged().cables {
		used[c[0]], used[c[1]] = true, true
	}
	for _, guid := range slices.Sorted(maps.Keys(w.nodes)) {
		for num := 1; num <= w.nodes[guid].count && w.nodes[guid].isSwitch(); num++ {
			if !used[plug{guid, num}] {
				free = append(free, plug{guid, num})
			}
		}
	}
	return some(m.rnd, len(free), free)
}

// someHost returns a port of a host with its cable.
func (m maker) someHost(w *whole) (plug, cable) {
	for _, guid := range some(m.rnd, len(w.nodes), slices.Sorted(maps.Keys(w.nodes))) {
		if at := w.at(guid); !w.nodes[guid].isSwitch() && len(at) > 0 {
			if at[0][0].guid == guid {
				return at[0][0], at[0]
			}
			return at[0][1], at[0]
		}
	}
	return plug{}, cable{}
}
