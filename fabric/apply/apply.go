// SPDX-License-Identifier: Apache-2.0

// Package apply writes LIDs, forwarding tables and port states to a subnet, and reads them back.
//
// The package makes no decisions. A [write.List] contains the items to write and their order. If a write fails, the
// other writes of the same step are still done, because they are safe in any order. Later steps do not begin. The
// switches then hold a mixture of old and new tables that the order of the steps makes safe. The [Report] states at
// which step the commit stopped and which items remain.
package apply

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/mad"
)

// Options controls [Apply].
type Options struct {
	// Progress, if set, is called regularly by the writing goroutine with the number of finished steps and the number
	// of all steps. Reading back counts as steps, too. The function must be fast.
	Progress func(done, total int)
	// Writing, if set, is called by the writing goroutine with a description of the current write. It is also called
	// when a phase begins.
	Writing func(Progress)
	// Overwrite permits Apply to overwrite data that another program wrote after w was planned. The report lists such
	// data in any case.
	Overwrite bool
}

// Apply writes w to the subnet of f, reads everything back, and reports the result. The subnet must not have changed
// since f was read.
//
// Before each step Apply compares the data in the subnet with the earlier and the new data in w, see [Report].Others.
// If the data in the subnet equal neither of these, Apply writes no item of that step. LIDs and LinearFDBTops are parts
// of a larger attribute, so they are checked separately.
//
// If a write fails, Apply writes the rest of the same step, but no later step. The error names the item that failed or
// differs, and wraps [ErrOthers], [ErrDiffers] or [mad.ErrTimeout]. If w does not fit f, nothing is written and the
// error wraps [write.ErrUnfit] or [sweep.ErrNoRoute].
//
// Once ctx ends, Apply sends no more requests. It waits for outstanding answers, reads nothing back, and returns ctx's
// error. Apply returns a report unless nothing was written.
func Apply(ctx context.Context, client *mad.Client, f *fabric.Fabric, w *write.List, opts Options) (*Report, error) {
	start := time.Now()
	a, err := newApplier(ctx, client, f, w, opts)
	if err != nil {
		return nil, fmt.Errorf("apply: %w", err)
	}
	defer a.dropRequests()
	a.planPhases()
	a.writeAll()
	a.enterReadBack()
	a.readBack()
	a.listUndone()
	if a.fatal == nil {
		a.now.Phase = len(a.now.Phases)
		a.reportProgress(true)
	}
	a.report.Elapsed = time.Since(start)
	if err := a.fatal; err != nil {
		return &a.report, fmt.Errorf("apply: %w: %d of %d writes were done (%v)", err, a.report.Written.Total(),
			w.Len(),
			a.report.Written)
	}
	if err := a.report.err(); err != nil {
		return &a.report, fmt.Errorf("apply: %w", err)
	}
	return &a.report, nil
}

// task is an item to write.
type task struct {
	write.Item
	done   bool // acknowledged, or found unchanged
	unread bool // the table of the switch could not be read, so the table is not written
	again  bool // the same table was written again
	// verified is set if the table was read back at the end of its step and holds what was written.
	verified bool
}

// table identifies a table of a switch, whatever its contents.
type table struct {
	port fabric.PortIndex
	attr mad.AttrID
	mod  uint32
}

// applier writes the items of a list and reads them back. It runs in one goroutine.
type applier struct {
	ctx    context.Context
	f      *fabric.Fabric
	w      *write.List
	opts   Options
	routes *sweep.Routes
	batch  *mad.Batch
	cancel context.CancelFunc // of the batch
	pulse  mad.Pulse
	limit  int // requests in the batch at a time
	report Report
	fatal  error

	lids, states, tops, sl2vls, blocks, mfts, controls []task // by index in w

	infos      []mad.PortInfo // of states
	latest     map[table]*task
	failed     map[fabric.NodeIndex]int // index into report.Failed, by node
	unanswered []uint8                  // consecutive requests, by node

	next, n int // of the current list
	begin   func(i int)

	steps, allSteps int
	now             Progress
	at              fabric.NodeIndex // the last node written or read back, None in a new phase
	reportedAt      time.Time        // when now was last passed to Options.Writing
}

func newApplier(ctx context.Context, client *mad.Client, f *fabric.Fabric, w *write.List,
	opts Options) (*applier, error) {
	if err := w.Check(f); err != nil {
		return nil, err
	}
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	a := &applier{
		ctx: ctx, cancel: cancel, f: f, w: w, opts: opts,
		routes: routesFor(f, w),
		batch:  client.NewBatch(own),
		limit:  client.Options().Window + 1, // includes the request whose answer is being handled
		lids:   tasks(w.LIDs), states: tasks(w.States), tops: tasks(w.Tops),
		sl2vls: tasks(w.SL2VLs), blocks: tasks(w.Blocks), mfts: tasks(w.MFTs), controls: tasks(w.Controls),
		infos:      make([]mad.PortInfo, len(w.States)),
		latest:     make(map[table]*task, len(w.Blocks)),
		failed:     map[fabric.NodeIndex]int{},
		unanswered: make([]uint8, len(f.Nodes)),
		allSteps:   2 * w.Len(),
		report:     Report{overwrite: opts.Overwrite},
	}
	for _, kind := range a.kinds() {
		for i := range kind {
			if _, err := a.routes.ToPort(kind[i].Target(f)); err != nil {
				cancel()
				return nil, err
			}
		}
	}
	return a, nil
}

// routesFor returns the routes on which a list is written. If they exist, these are routes that avoid the links which
// the list takes down, so that answers arrive after such a write, too.
func routesFor(f *fabric.Fabric, w *write.List) *sweep.Routes {
	without := f.Without(w.Down(f))
	if without.SMPort != f.SMPort {
		return sweep.NewRoutes(f)
	}
	routes := sweep.NewRoutes(without)
	for i := range w.Controls {
		if _, err := routes.ToPort(w.Controls[i].Port); err != nil {
			return sweep.NewRoutes(f)
		}
	}
	return routes
}

// dropRequests cancels outstanding requests. Requests are outstanding only after a panic. The client would retry them,
// possibly after another commit has begun.
func (a *applier) dropRequests() {
	a.cancel()
	_ = a.batch.Wait() // returns that it was cancelled
}

func tasks[T any, P interface {
	*T
	write.Item
}](items []T) []task {
	all := make([]task, len(items))
	for i := range items {
		all[i].Item = P(&items[i])
	}
	return all
}

// kinds returns the tasks of each kind of item, in the order in which they are read back.
func (a *applier) kinds() [][]task {
	return [][]task{a.lids, a.tops, a.sl2vls, a.blocks, a.mfts, a.states, a.controls}
}

// listUndone sets report.Left to the items that are not known to be written.
func (a *applier) listUndone() {
	a.report.Left = write.List{
		LIDs:   undone(a.w.LIDs, a.lids),
		Tops:   undone(a.w.Tops, a.tops),
		SL2VLs: undone(a.w.SL2VLs, a.sl2vls),
		Blocks: undone(a.w.Blocks, a.blocks),
		MFTs:   undone(a.w.MFTs, a.mfts),
		States: undone(a.w.States, a.states), Controls: undone(a.w.Controls, a.controls),
	}
}

func undone[T any](items []T, tasks []task) []T {
	var left []T
	for i := range tasks {
		if !tasks[i].done {
			left = append(left, items[i])
		}
	}
	return left
}

// allDone reports whether all tasks are done.
func allDone(tasks []*task) bool {
	return !slices.ContainsFunc(tasks, func(t *task) bool { return !t.done })
}

// lookAhead is the number of tables that are checked, then written, at a time. Data that another console writes between
// the check and the write is overwritten unnoticed.
const lookAhead = 512

// findConflicts reads the tables of some tasks again, before they are written. It records the data that another program
// wrote.
func (a *applier) findConflicts(tasks []*task) {
	a.each(len(tasks), func(i int) {
		t := tasks[i]
		item, ok := t.Item.(write.Table)
		if !ok {
			return
		}
		port, req := item.Target(a.f), item.Get(a.f)
		was, read := item.Was()
		if before := a.latest[table{port, req.Attr, req.Mod}]; before != nil {
			was, read = before.Item.(write.Table).Data(), true
		}
		if !read {
			return
		}
		a.report.Looks++
		t.unread = true
		a.ask(port, req, func(now *mad.Reply) {
			t.unread = false
			is, would := now.Data, item.Data()
			item.Conflicts(&was, &is, &would, a.conflict(port, &a.report.Others))
		}, nil)
	})
}

// conflict returns a function that records conflicting data of the port's node in a list.
func (a *applier) conflict(port fabric.PortIndex, to *write.Conflicts) func(what string, was, is, would any) {
	node := a.f.Ports[port].Node
	return func(what string, was, is, would any) {
		to.Add(a.f.NodeName(node), a.f.Nodes[node].GUID, what, was, is, would)
	}
}

// stopsForOthers reports whether the commit must stop because another program has written to the switches.
func (a *applier) stopsForOthers() bool { return a.report.Others.Count > 0 && !a.opts.Overwrite }

// raiseMulticastTops raises the MulticastFDBTop of switches that get new entries above it. It reports whether every
// MulticastFDBTop is now high enough. A MulticastFDBTop of 0 means that the switch does not support the field (IBA
// 1.2.1, 14.2.5.4).
func (a *applier) raiseMulticastTops() bool {
	low := a.highestMLIDs()
	switches := slices.Sorted(maps.Keys(low))
	a.each(len(switches), func(i int) {
		sw := switches[i]
		port, want := a.f.SwitchNode(sw).FirstPort, low[sw]
		req := mad.Request{Attr: mad.AttrSwitchInfo}
		raised := func(*mad.Reply) { delete(low, sw) }
		a.ask(port, req, func(r *mad.Reply) {
			var info mad.SwitchInfo
			_ = r.Decode(&info) // the answer is valid
			switch capacity := int(info.MulticastFDBCap); {
			case int(want) >= fabric.FirstMLID+capacity:
				a.fail(port, fmt.Errorf("multicast LID 0x%04x exceeds its capacity of %d multicast LIDs from 0x%04x",
					want,
					capacity, fabric.FirstMLID))
				return
			case info.MulticastFDBTop < fabric.FirstMLID-1 || info.MulticastFDBTop >= want:
				raised(r)
				return
			}
			info.MulticastFDBTop = want
			info.PortStateChange = false // a 1 would clear the bit, and a subnet manager would miss a change
			req.Set(&info)
			a.ask(port, req, raised, nil)
		}, nil)
	})
	return len(low) == 0
}

// highestMLIDs returns, by switch, the highest multicast LID that gets a new port.
func (a *applier) highestMLIDs() map[fabric.SwitchIndex]uint16 {
	top := map[fabric.SwitchIndex]uint16{}
	for i := range a.w.MFTs {
		b := &a.w.MFTs[i]
		for k, ports := range b.New {
			if b.Grow && ports != 0 {
				top[b.Switch] = max(top[b.Switch], b.FirstLID()+uint16(k))
			}
		}
	}
	return top
}
