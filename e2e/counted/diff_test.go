// SPDX-License-Identifier: Apache-2.0

package counted

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// difference is the difference between two states.
type difference struct {
	before, after *state
	// pairs counts the pairs of end ports by kind.
	pairs map[string][][2]endPort
	total int
	// entries holds, by GUID, the LIDs of the changed entries of a switch in both states.
	entries map[uint64][]int
	// loads are the loads of ports, by plug.
	loads [2]map[plug]portLoad
}

// portLoad is the load of a switch port.
type portLoad struct{ entries, paths int }

// The kinds of pairs, by the keys of the JSON.
const (
	same      = "same"
	changed   = "changed"
	cutOff    = "cut_off"
	connected = "connected"
	unreached = "unreached"
	unsure    = "unknown"
)

// differ compares two states.
func differ(before, after *state) *difference {
	d := &difference{before: before, after: after, pairs: map[string][][2]endPort{}, entries: map[uint64][]int{}}
	ends := endsOf(before, after)
	d.total = len(ends) * (len(ends) - 1)
	loads := [2]*loads{newLoads(), newLoads()}
	for _, src := range ends {
		for _, dst := range ends {
			if src != dst {
				kind := d.kind(src, dst, loads)
				d.pairs[kind] = append(d.pairs[kind], [2]endPort{src, dst})
			}
		}
	}
	for guid, row := range before.lft {
		other, is := after.lft[guid]
		for lid := range max(before.top[guid], after.top[guid]) + 1 {
			was, had := row[lid]
			now, has := other[lid]
			if is && lid > 0 && (had != has || was != now) {
				d.entries[guid] = append(d.entries[guid], lid)
			}
		}
	}
	d.loads = [2]map[plug]portLoad{before.portLoads(loads[0]), after.portLoads(loads[1])}
	return d
}

// endsOf returns the end ports that either state counts: own is that of the new state, base that of the old one.
func endsOf(before, after *state) (all []endPort) {
	seen := map[uint64]int{}
	for _, e := range before.ends(false) {
		seen[e.port().guid] = len(all)
		all = append(all, endPort{base: e.port()})
	}
	for _, e := range after.ends(false) {
		i, is := seen[e.port().guid]
		if !is {
			i = len(all)
			all = append(all, endPort{})
		}
		all[i].own = e.port()
	}
	return all
}

// kind returns the kind of a pair, and counts its paths that are known in both states. Each LID of the state with more
// LIDs is compared with those of the other one in turn.
func (d *difference) kind(src, dst endPort, loads [2]*loads) string {
	old, fresh := d.before.allBetween(src.base, dst.base), d.after.allBetween(src.own, dst.own)
	isSame := true
	for k := range max(len(old), len(fresh)) {
		p, q := old[k%len(old)], fresh[k%len(fresh)]
		isSame = isSame && samePath(p, q)
		if p.ends == unknown || q.ends == unknown {
			continue
		}
		if k < len(old) {
			loads[0].add(&p)
		}
		if k < len(fresh) {
			loads[1].add(&q)
		}
	}
	was, is := fate(old), fate(fresh)
	switch {
	case was == unknown || is == unknown:
		return unsure
	case was == deadEnd && is == deadEnd:
		return unreached
	case is == deadEnd:
		return cutOff
	case was == deadEnd:
		return connected
	case isSame:
		return same
	}
	return changed
}

// allBetween returns the paths between two end ports that the state counts, one that ends at once if there is none.
func (s *state) allBetween(src, dst *port) (paths []path) {
	none := []path{{ends: deadEnd}}
	if src == nil || dst == nil || s.net.endByGUID[src.guid] == nil || s.net.endByGUID[dst.guid] == nil {
		return none
	}
	for _, lid := range dst.lids() {
		paths = append(paths, s.walk(src, lid))
	}
	if len(paths) == 0 {
		return none
	}
	return paths
}

// fate returns a dead end if a path does not arrive, unknown if one is, and otherwise delivered.
func fate(paths []path) string {
	worst := delivered
	for _, p := range paths {
		switch {
		case p.ends == unknown && worst == delivered:
			worst = unknown
		case p.ends != unknown && !p.arrives():
			worst = deadEnd
		}
	}
	return worst
}

// samePath reports whether two paths use the same links.
func samePath(a, b path) bool {
	return slices.EqualFunc(a.leaves(), b.leaves(), func(p, q *port) bool {
		return plugOf(p) == plugOf(q) && plugOf(p.peer) == plugOf(q.peer)
	})
}

func plugOf(p *port) plug { return plug{p.node.guid, p.num} }

// portLoads returns the entries and paths of each switch port of the subnet that has any.
func (s *state) portLoads(l *loads) map[plug]portLoad {
	all := map[plug]portLoad{}
	for guid, row := range s.lft {
		for lid, num := range row {
			if lid > 0 && num > 0 && s.reachable(guid) {
				x := all[plug{guid, num}]
				x.entries++
				all[plug{guid, num}] = x
			}
		}
	}
	for p, n := range l.paths {
		if p.node.isSwitch() {
			x := all[plugOf(p)]
			x.paths = n
			all[plugOf(p)] = x
		}
	}
	return all
}

// worst is the maximum number of paths over a link between switches, before or after.
func (d *difference) worst(side int) int {
	most := 0
	for _, p := range []*state{d.before, d.after}[side].net.directions(between) {
		most = max(most, d.loads[side][plugOf(p)].paths)
	}
	return most
}

// diff compares `diff A B`.
func (x *exam) diff(before, after *state) {
	a := x.ask(fmt.Sprintf("diff %s %s", before.name, after.name))
	if a.o == nil {
		a.wrong("answer", a.err, "-", "some")
		return
	}
	d := differ(before, after)
	a.mustLine("from {old} to {new}")
	a.title("old", before)
	a.title("new", after)
	a.unreadOf(d)
	a.verdict(d)
	a.pairKinds(d)
	a.changedEntries(d)
	a.endPorts(d)
	a.cables(d)
	a.changedLoads(d)
	a.worstLoads(d)
	a.levels(d)
	a.succeeds()
	a.done()
}

// unreadOf compares the head: the new state, and how many tables of the two states were not read.
func (a *answer) unreadOf(d *difference) {
	n, states := 0, []*state{d.before, d.after}
	if d.before.name == d.after.name {
		states = states[:1]
	}
	for _, s := range states {
		names := s.unreadTables()
		if n += len(names); len(names) > 0 {
			a.mustLine(fmt.Sprintf("  not read: %d forwarding table(s) (%s{|.*}): {|.*}", len(names), s.name))
		}
	}
	a.basis(d.after, n)
	for i := range a.o.length("of.unread.causes") {
		at := fmt.Sprintf("of.unread.causes.%d.", i)
		a.figure(at+"what", "forwarding table")
		for j := range a.o.length(at + "at") {
			a.ignore(fmt.Sprintf("%sat.%d.name", at, j), fmt.Sprintf("%sat.%d.guid", at, j))
		}
		a.ignore(at+"why", at+"count")
	}
}

// verdict compares whether there is a difference, and what was compared.
func (a *answer) verdict(d *difference) {
	list := func(key string) string {
		var words []string
		for i := range a.o.length(key) {
			v, _ := a.o.at(key + "." + number(i))
			words = append(words, fmt.Sprint(v))
		}
		return strings.Join(words, ", ")
	}
	isUnknown := len(d.unread())+len(d.pairs[unsure])+a.intAt("of.unread.count") > 0
	isSame := d.none() && !a.levelsDiffer()
	compared := "no difference in " + list("compared")
	switch {
	case isSame && isUnknown:
		a.mustLine(compared + ", as far as was read")
		a.figure("verdict", "unknown")
		a.figure("found", fmt.Sprintf("not all was read: whether %v and %v differ is unknown", a.o.value["old"],
			a.o.value["new"]))
	case isSame:
		a.mustLine(compared)
		a.figure("verdict", "ok")
	default:
		a.figure("verdict", "found")
		a.figure("found", fmt.Sprintf("%v and %v differ", a.o.value["old"], a.o.value["new"]))
	}
	a.mustLine("not compared {|+}" + list("not_compared"))
	if isSame && !isUnknown {
		return
	}
	for _, form := range []string{
		"pairs lost {|+}{pairs_cut_off#}", "pairs with another path {|+}{pairs_changed#} of {pairs_total#}",
	} {
		a.mustLine(form)
	}
}

// levelsDiffer reports whether the answer reports different VLs or service levels.
func (a *answer) levelsDiffer() bool { return a.intAt("vls_sl2vl_tables")+a.intAt("vls_path_sls") > 0 }

// none reports whether nothing differs.
func (d *difference) none() bool {
	gone, come, moved := d.ends()
	down, up := d.links()
	return len(d.entries) == 0 && len(d.changedLoads()) == 0 && len(d.pairs[same])+len(d.pairs[unreached])+
		len(d.pairs[unsure]) == d.total && len(gone)+len(come)+len(moved)+len(down)+len(up) == 0
}

// mostDiffers is the number of elements of each kind that diff lists.
const mostDiffers = 10

// pairKinds compares the counts of pairs, and the listed pairs.
func (a *answer) pairKinds(d *difference) {
	a.line("pairs newly connected {|+}{pairs_connected#}")
	a.line("pairs lost as before {|+}{pairs_unreached#}")
	a.line("pairs not known {|+}{pairs_unknown#}, over switches whose tables were not read")
	for _, kind := range []string{same, changed, cutOff, connected, unreached, unsure} {
		a.figure("pairs_"+kind, len(d.pairs[kind]))
	}
	a.figure("pairs_total", d.total)
	a.figure("pairs_by_luck", 0) // no switch routes adaptively
	a.figure("pairs_by_luck_before", 0)
	head := a.o
	for _, kind := range []string{cutOff, connected, changed} {
		are := map[string]bool{}
		for _, p := range d.pairs[kind] {
			are[d.endName(p[0])+" -> "+d.endName(p[1])] = true
		}
		rows := a.rows(kind)
		if len(rows) != min(mostPaths, len(are)) {
			a.wrong(kind, "-", len(rows), min(mostPaths, len(are)))
		}
		for i, o := range rows {
			a.take(o)
			a.streamed(kind)
			of := d.after
			if kind == cutOff {
				of = d.before
			}
			name := a.endAt("src", of) + " -> " + a.endAt("dst", of)
			if a.x.compared++; !are[name] {
				a.wrong(kind, "-", name, "no such pair")
			}
			delete(are, name)
			for _, end := range []string{"src", "dst"} {
				if p := of.plugAt(o, end); of.attached(p) != nil {
					a.place(end+"_switch", of, of.attached(p).node.guid, of.attached(p).num)
				}
			}
			if kind != changed && i < mostDiffers {
				a.mustLine("  " + name)
			}
		}
		if n := len(d.pairs[kind]); n > mostDiffers && kind != changed {
			a.mustLine("  and {more_" + kind + "#} more")
			a.said("more_"+kind, n-mostDiffers)
		}
	}
	a.take(head)
}

// endName returns the name and LID of an end port, those of the old state if it exists there.
func (d *difference) endName(e endPort) string {
	if e.base != nil {
		return fmt.Sprintf("%v (LID %d)", e.base, d.before.shownLID(d.before.end(e.base.guid)))
	}
	return fmt.Sprintf("%v (LID %d)", e.own, d.after.shownLID(d.after.end(e.own.guid)))
}

// endAt returns the name and LID of an end port in the JSON, a port of one of the states.
func (a *answer) endAt(key string, s *state) string {
	at := s.plugAt(a.o, key)
	if s.nodeOf(at.guid) == nil {
		a.wrong(key, "-", at, "no such node")
		return ""
	}
	a.place(key, s, at.guid, at.num)
	return fmt.Sprintf("%s (LID %d)", s.plugName(at), a.intAt(key+"_lid"))
}

// attached returns the switch port to which an end port is attached, port 0 for a switch itself, or nil.
func (s *state) attached(at plug) *port {
	p := s.portAt(at)
	if p != nil && p.node.isSwitch() {
		return p
	}
	if p == nil || p.peer == nil || !p.peer.node.isSwitch() {
		return nil
	}
	return p.peer
}

// changedEntries compares the changed table entries.
func (a *answer) changedEntries(d *difference) {
	n, blocks := 0, 0
	for _, lids := range d.entries {
		n += len(lids)
		blocks += blocksOf(lids)
	}
	form := "LFT entries {|+}{entries_changed#} on {entries_switches#} switches, {entries_blocks#} blocks"
	if len(d.unread()) > 0 {
		form += "; {entries_unread#} switch(es) not compared, as a table was not read"
	}
	a.line(form)
	a.figure("entries_changed", n)
	a.figure("entries_switches", len(d.entries))
	a.figure("entries_blocks", blocks)
	a.figure("entries_unread", len(d.unread()))
	head, rows := a.o, a.rows("switches")
	if len(rows) != len(d.entries) {
		a.wrong("switches", "-", len(rows), len(d.entries))
	}
	seen := map[uint64]bool{}
	for _, o := range rows {
		a.take(o)
		a.streamed("switches")
		guid := d.after.plugAt(o, "switch").guid
		if d.entries[guid] == nil || seen[guid] {
			a.wrong("switches", "-", o.value, "a switch with changed entries, once")
			continue
		}
		seen[guid] = true
		a.place("switch", d.after, guid, -1)
		a.figure("changed", len(d.entries[guid]))
		a.figure("blocks", blocksOf(d.entries[guid]))
		a.figure("top_old", d.before.top[guid])
		a.figure("top_new", d.after.top[guid])
	}
	a.take(head)
}

// unread returns the switches of both subnets whose table is unknown in one state.
func (d *difference) unread() map[uint64]bool {
	all := map[uint64]bool{}
	for guid, n := range d.before.net.byGUID {
		if other := d.after.net.byGUID[guid]; n.isSwitch() && other != nil &&
			(d.before.lft[guid] == nil || d.after.lft[guid] == nil) {
			all[guid] = true
		}
	}
	return all
}

// blocksOf counts the blocks of 64 LIDs.
func blocksOf(lids []int) int {
	blocks := map[int]bool{}
	for _, lid := range lids {
		blocks[lid/64] = true
	}
	return len(blocks)
}

// ends compares the end ports that go, come, or get another LID.
func (d *difference) ends() (gone, come []*port, moved [][2]*port) {
	for p := range d.before.net.ends(true) {
		q := d.after.net.endByGUID[p.guid]
		switch {
		case q == nil:
			gone = append(gone, p)
		case q.lid != p.lid:
			moved = append(moved, [2]*port{p, q})
		}
	}
	for p := range d.after.net.ends(true) {
		if d.before.net.endByGUID[p.guid] == nil {
			come = append(come, p)
		}
	}
	return gone, come, moved
}

func (a *answer) endPorts(d *difference) {
	gone, come, moved := d.ends()
	a.endList("gone", "end ports gone", "ends_gone", gone, d.before, d.after)
	a.endList("come", "end ports come", "ends_come", come, d.after, d.after)
	a.line("LIDs moved {|+}{lids_moved#}")
	a.figure("lids_moved", len(moved))
	to := map[string]int{}
	for _, m := range moved {
		to[fmt.Sprintf("%v (LID %d)", m[1], m[0].lid)] = m[1].lid
	}
	head, rows := a.o, a.rows("moved")
	if len(rows) != len(moved) {
		a.wrong("moved", "-", len(rows), len(moved))
	}
	for _, o := range rows {
		a.take(o)
		a.streamed("moved")
		at := d.after.plugAt(o, "port")
		a.place("port", d.after, at.guid, at.num)
		a.figure("new_lid", to[fmt.Sprintf("%s (LID %d)", d.after.plugName(at), a.intAt("lid"))])
	}
	a.take(head)
}

// endList compares a list of end ports, those of a state.
func (a *answer) endList(key, label, count string, ports []*port, s, after *state) {
	are := map[string]int{}
	for _, p := range ports {
		are[fmt.Sprintf("%v (LID %d)", p, p.lid)]++
	}
	a.line(label + " {|+}{" + count + "#}")
	a.figure(count, len(ports))
	head, rows := a.o, a.rows(key)
	if len(rows) != len(ports) {
		a.wrong(key, "-", len(rows), len(ports))
	}
	for i, o := range rows {
		a.take(o)
		a.streamed(key)
		at := s.plugAt(o, "port")
		a.place("port", s, at.guid, at.num)
		name := fmt.Sprintf("%s (LID %d)", s.plugName(at), a.intAt("lid"))
		if a.x.compared++; are[name] == 0 {
			a.wrong(key, "-", name, "not in the list")
		}
		are[name]--
		if p := s.attached(at); p != nil {
			a.place("switch", s, p.node.guid, p.num)
		}
		suffix := ""
		if p := s.portAt(at); key == "gone" && p != nil && after.had[p.guid] != nil {
			suffix = ", unreachable"
		}
		a.figure("unreachable", suffix != "")
		if i < mostDiffers {
			a.mustLine("  " + name + suffix)
		}
	}
	a.take(head)
	a.moreOf(key, len(ports))
}

// moreOf compares the number of elements that a list omits.
func (a *answer) moreOf(key string, n int) {
	if n > mostDiffers {
		a.mustLine("  and {more_" + key + "#} more")
		a.said("more_"+key, n-mostDiffers)
	}
}

// links compares the cables that only one of the states has.
func (d *difference) links() (down, up map[cable]bool) {
	only := func(s, t *state) map[cable]bool {
		all := map[cable]bool{}
		for c := range s.whole.cables {
			if !t.whole.cables[c] {
				all[c] = true
			}
		}
		return all
	}
	return only(d.before, d.after), only(d.after, d.before)
}

func (a *answer) cables(d *difference) {
	down, up := d.links()
	a.cableList("down", "links down", "links_down", d, d.before, down)
	a.cableList("up", "links up", "links_up", d, d.after, up)
}

func (a *answer) cableList(key, label, count string, d *difference, s *state, cables map[cable]bool) {
	a.line(label + " {|+}{" + count + "#}")
	a.figure(count, len(cables))
	head, rows, seen := a.o, a.rows(key), map[cable]bool{}
	if len(rows) != len(cables) {
		a.wrong(key, "-", len(rows), len(cables))
	}
	for i, o := range rows {
		a.take(o)
		a.streamed(key)
		p, q := s.plugAt(o, "a"), s.plugAt(o, "b")
		if a.x.compared++; !cables[cableOf(p, q)] || seen[cableOf(p, q)] {
			a.wrong(key, "-", fmt.Sprint(p, q), "not in the list")
			continue
		}
		seen[cableOf(p, q)] = true
		a.plug(d, "a", p)
		a.plug(d, "b", q)
		if i < mostDiffers {
			a.mustLine(fmt.Sprintf("  %s -- %s", s.plugName(p), s.plugName(q)))
		}
	}
	a.take(head)
	a.moreOf(key, len(cables))
}

// plug compares a port of the new state, or otherwise of the old one.
func (a *answer) plug(d *difference, path string, at plug) {
	s := d.after
	if s.nodeOf(at.guid) == nil {
		s = d.before
	}
	a.place(path, s, at.guid, at.num)
}

// plugAt returns the node and port of a place in the JSON.
func (s *state) plugAt(o *object, key string) plug {
	guid, _ := o.at(key + ".guid")
	num, has := o.at(key + ".port")
	is, _ := strconv.ParseUint(fmt.Sprint(guid), 0, 64)
	if !has {
		return plug{is, 0}
	}
	return plug{is, decimal(fmt.Sprint(num))}
}

// mostLoads is the number of changed loads in the text.
const mostLoads = 5

// changedLoads are the ports of links with a changed number of entries or paths.
func (d *difference) changedLoads() map[plug]bool {
	differ := map[plug]bool{}
	for _, side := range d.loads {
		for p := range side {
			if d.loads[0][p] != d.loads[1][p] && !d.unread()[p.guid] && d.peerName(p) != "" {
				differ[p] = true
			}
		}
	}
	return differ
}

// changedLoads compares the switch ports with a changed number of entries or paths.
func (a *answer) changedLoads(d *difference) {
	differ := d.changedLoads()
	a.line("links whose load changes {|+}{loads_changed#}")
	a.figure("loads_changed", len(differ))
	head, rows, seen := a.o, a.rows("loads"), map[plug]bool{}
	if len(rows) != len(differ) {
		a.wrong("loads", "-", len(rows), len(differ))
	}
	for i, o := range rows {
		a.take(o)
		a.streamed("loads")
		p := d.after.plugAt(o, "from")
		if a.x.compared++; !differ[p] || seen[p] {
			a.wrong("loads", "-", p, "no other load")
		}
		seen[p] = true
		if i < mostLoads {
			a.mustLine("  " + d.linkName(p) + ": paths {paths_new#}, was {paths_old#}; entries {entries_new#}, was " +
				"{entries_old#}")
		}
		a.load(d, "", p)
	}
	a.take(head)
	if n := len(differ); n > mostLoads {
		a.mustLine("  and {more_loads#} more")
		a.said("more_loads", n-mostLoads)
	}
}

// linkName returns the name of a direction of a link.
func (d *difference) linkName(p plug) string {
	if to := d.peerName(p); to != "" {
		return d.name(p) + " -> " + to
	}
	return d.name(p)
}

// load compares the load of a port before and after.
func (a *answer) load(d *difference, at string, p plug) {
	a.plug(d, at+"from", p)
	if to := d.peerName(p); to == "" {
		a.figure(at+"to", nil)
	} else if q := d.after.plugAt(a.o, at+"to"); d.name(q) == to {
		a.plug(d, at+"to", q)
	} else {
		a.wrong(at+"to", "-", q, to)
	}
	a.figure(at+"paths_old", d.loads[0][p].paths)
	a.figure(at+"paths_new", d.loads[1][p].paths)
	a.figure(at+"change", d.loads[1][p].paths-d.loads[0][p].paths)
	a.figure(at+"entries_old", d.loads[0][p].entries)
	a.figure(at+"entries_new", d.loads[1][p].entries)
}

// name returns the name of a port of either state.
func (d *difference) name(p plug) string {
	if d.after.whole.nodes[p.guid] != nil {
		return d.after.plugName(p)
	}
	return d.before.plugName(p)
}

// peerName returns the name of the other end of its link, after or before, "" for none.
func (d *difference) peerName(p plug) string {
	for _, s := range []*state{d.after, d.before} {
		for c := range s.whole.cables {
			switch p {
			case c[0]:
				return s.plugName(c[1])
			case c[1]:
				return s.plugName(c[0])
			}
		}
	}
	return ""
}

// worstLoads compares the links between switches with most paths.
func (a *answer) worstLoads(d *difference) {
	old, fresh := d.worst(0), d.worst(1)
	if a.line("most paths on a link {|+}{worst_new_paths_new#}, was {worst_old_paths_old#} {|+}{worst}"); old == 0 ||
		fresh == 0 {
		if a.words["worst"] != "" {
			a.wrong("worst_new", a.words["worst"], "-", "none")
		}
	} else if a.words["worst"] != "" {
		a.said("worst", d.linkName(d.after.plugAt(a.o, "worst_new_from")))
	}
	for _, w := range []struct {
		key  string
		most int
		side int
	}{{"worst_old_", old, 0}, {"worst_new_", fresh, 1}} {
		if w.most == 0 {
			a.figure(w.key+"paths_old", nil)
			continue
		}
		p := d.after.plugAt(a.o, w.key+"from")
		a.load(d, w.key, p)
		if a.x.compared++; d.loads[w.side][p].paths != w.most {
			a.wrong(w.key, "-", d.loads[w.side][p].paths, w.most)
		}
	}
}

// levels compares the VL tables and the service levels of paths that differ.
func (a *answer) levels(d *difference) {
	if a.line("SL2VL tables {|+}{vls_sl2vl_tables#}"); a.o.has("vls_sl2vl_tables") {
		n, more := d.changedVLs()
		if got := a.intAt("vls_sl2vl_tables"); got > n && got <= n+more {
			n = got
		}
		a.figure("vls_sl2vl_tables", n)
	}
	if a.line("path SLs {|+}{vls_path_sls#}"); a.o.has("vls_path_sls") {
		n := 0
		for p := range d.before.net.ends(true) {
			for q := range d.before.net.ends(true) {
				x, y := d.after.net.endByGUID[p.guid], d.after.net.endByGUID[q.guid]
				if p != q && x != nil && y != nil && d.before.slsText([2]int{p.lid, q.lid}) !=
					d.after.slsText([2]int{x.lid, y.lid}) {
					n++
				}
			}
		}
		a.figure("vls_path_sls", n)
	}
	for _, key := range []string{"SL2VL tables", "path SLs"} {
		a.line(key + " {|+}not compared: known of one state only")
	}
	a.ignore("vls_sl2vl_tables", "vls_path_sls")
}

// changedVLs counts the changed SL2VL tables of ports with a link in the old state: no packet enters by another port.
// more counts the tables that no file of the new state contains, because their ports have no link.
func (d *difference) changedVLs() (n, more int) {
	for hop, vls := range d.before.sl2vl {
		end := d.before.net.endByGUID[hop.guid]
		if end == nil || hop.in > 0 && end.node.ports[hop.in] == nil {
			continue
		}
		switch other := d.after.sl2vl[hop]; {
		case other == nil:
			more++
		case !slices.Equal(vls, other):
			n++
		}
	}
	return n, more
}
