// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/mad"
)

// phase is a group of writes that begins only when the previous phase is complete.
type phase struct {
	what   string
	tasks  []*task
	before func() bool // if set, runs before the tasks and reports whether they can begin
	read   bool        // the tasks are read back at the end of the phase
}

// writeAll writes the phases in order, until a phase fails.
func (a *applier) writeAll() {
	a.enter(len(a.lids))
	a.each(len(a.lids), func(i int) { a.write(&a.lids[i]) })
	if a.stopsForOthers() {
		a.report.Stopped = lidsPhase
		return
	}
	a.enter(len(a.states))
	a.writeStates()
	if !a.linksUp() {
		a.report.Stopped = portsPhase
		return
	}
	for _, p := range a.phases() {
		a.enter(len(p.tasks))
		if p.before == nil || p.before() {
			for some := range slices.Chunk(p.tasks, lookAhead) {
				if a.findConflicts(some); a.stopsForOthers() {
					break
				}
				a.each(len(some), func(i int) { a.write(some[i]) })
			}
			if allDone(p.tasks) && (!p.read || a.holds(p.tasks)) {
				continue
			}
		}
		a.report.Stopped = p.what
		return
	}
}

// phases returns the phases that follow LIDs and port states.
func (a *applier) phases() []phase {
	falls := func(i int) bool { return a.w.Tops[i].Falls() }
	grow := func(i int) bool { return a.w.MFTs[i].Grow }
	raise := func() bool { return (!a.w.CutFirst || a.settle()) && a.raiseMulticastTops() }
	cut := phase{what: "multicast branches to remove", tasks: pick(a.mfts, grow, false), read: a.w.ReadSteps}
	all := []phase{{what: "raised LinearFDBTops", tasks: pick(a.tops, falls, false)}}
	if a.w.CutFirst {
		all = append(all, cut)
	}
	steps, after := a.steppedPhases()
	all = append(all, steps...)
	all = append(all, phase{what: "lowered LinearFDBTops", tasks: pick(a.tops, falls, true)})
	all = append(all, after...)
	if !a.w.CutFirst {
		all = append(all, cut)
	}
	all = append(all, phase{what: "multicast branches to add", tasks: pick(a.mfts, grow, true), before: raise})
	for i := range a.controls {
		all = append(all, phase{what: fmt.Sprintf("port control %d of %d", i+1, len(a.controls)),
			tasks: []*task{&a.controls[i]}})
	}
	return all
}

// steppedPhases returns the phases of SL2VL tables and blocks up to the last step of blocks, and those of later steps.
func (a *applier) steppedPhases() (steps, after []phase) {
	blocks, vls := map[int][]*task{}, map[int][]*task{}
	last := 0
	for i := range a.blocks {
		last = a.w.Blocks[i].Step
		blocks[last] = append(blocks[last], &a.blocks[i])
	}
	for i := range a.sl2vls {
		step := a.w.SL2VLs[i].Step
		vls[step] = append(vls[step], &a.sl2vls[i])
	}
	numbers := slices.Sorted(maps.Keys(blocks))
	for step := range vls {
		numbers = append(numbers, step)
	}
	slices.Sort(numbers)
	n := 0
	for _, step := range slices.Compact(numbers) {
		var before func() bool
		if slices.Contains(a.w.Settles, step) {
			before = a.settle
		}
		if m := vls[step]; m != nil {
			p := phase{what: "SL2VL tables", tasks: m, before: before, read: a.w.ReadSteps}
			switch {
			case step > last:
				p.what = "late SL2VL tables"
				after = append(after, p)
				continue
			case step > 0:
				p.what = fmt.Sprintf("SL2VL tables before step %d of %d", n+1, len(blocks))
			}
			steps, before = append(steps, p), nil
		}
		if b := blocks[step]; b != nil {
			n++
			steps = append(steps, phase{what: fmt.Sprintf("step %d of %d", n, len(blocks)), tasks: b, before: before,
				read: a.w.ReadSteps})
		}
	}
	return steps, after
}

// pick returns the tasks for whose index the function match returns the value of the argument want.
func pick(tasks []task, match func(i int) bool, want bool) []*task {
	var some []*task
	for i := range tasks {
		if match(i) == want {
			some = append(some, &tasks[i])
		}
	}
	return some
}

// settle waits until the packets that met earlier entries have left the switches. It reports whether they have: the
// context may end before.
func (a *applier) settle() bool {
	timer := time.NewTimer(a.w.SettleTime)
	defer timer.Stop()
	select {
	case <-a.ctx.Done():
		a.fatal = a.ctx.Err()
		return false
	case <-timer.C:
		return true
	}
}

// linksUp reports whether all links between switches that were to come up have done so.
func (a *applier) linksUp() bool {
	for i := range a.states {
		port := a.w.States[i].Port
		if !a.states[i].done && a.f.Nodes[a.f.Ports[port].Node].IsSwitch() && a.f.PeerSwitch(port) != fabric.None {
			return false
		}
	}
	return true
}

// write writes one item. If the item is only a part of an attribute, write reads the attribute first and keeps the
// other parts.
func (a *applier) write(t *task) {
	switch item := t.Item.(type) {
	case write.Table:
		a.writeTable(t, item)
	case write.Field:
		a.writeField(t, item)
	}
}

func (a *applier) writeTable(t *task, item write.Table) {
	if t.unread {
		return
	}
	port, req := item.Target(a.f), item.Get(a.f)
	what := table{port, req.Attr, req.Mod}
	if before := a.latest[what]; before != nil {
		before.again = true
	}
	a.latest[what] = t
	req.Method, req.Data = mad.MethodSet, item.Data()
	a.ask(port, req, func(*mad.Reply) { a.wrote(t) }, nil)
}

func (a *applier) writeField(t *task, item write.Field) {
	port := item.Target(a.f)
	a.ask(port, item.Get(a.f), func(now *mad.Reply) {
		before := a.report.Others.Count
		item.Conflicts(a.f, now, a.conflict(port, &a.report.Others))
		if a.report.Others.Count > before && !a.opts.Overwrite {
			a.step()
			return
		}
		req := item.Get(a.f)
		if !item.Set(now, &req) {
			a.wrote(t)
			return
		}
		a.ask(port, req, func(*mad.Reply) { a.wrote(t) }, func() bool { return a.askAgain(t, item) })
	}, nil)
}

// askAgain reads a port whose Set was not answered or was refused. The write counts as done if the port has the new
// values: the answer may have been lost with the link. It returns false for other items.
func (a *applier) askAgain(t *task, item write.Field) bool {
	control, ok := item.(*write.Control)
	if !ok || control.Reset {
		return false
	}
	port := item.Target(a.f)
	a.ask(port, item.Get(a.f), func(now *mad.Reply) {
		info := mad.PortInfo{}
		_ = now.Decode(&info) // the answer is valid
		if control.Needed(&info) {
			a.fail(port, fmt.Errorf("port %d did not accept %v", control.Num, control))
			return
		}
		a.wrote(t)
	}, nil)
	return true
}
