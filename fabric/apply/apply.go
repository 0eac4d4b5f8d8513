// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/mad"
)

// Options say how to write.
type Options struct {
	// Progress, where set, is called now and then by the goroutine that writes, with the number of steps done
	// and that of all. Reading back counts too. It must be quick.
	Progress func(done, total int)
	// Writing, where set, is told so too what is being written: at the beginning of each phase, and now and then.
	Writing func(Progress)
	// Over writes over what somebody else wrote since w was made; it is reported all the same.
	Over bool
}

// Apply writes w to the subnet of f, which must be as it is, reads all that back and reports.
//
// Before each step it looks whether what it is about to write over is still what w says, see [Report.Others]:
// where it is not, and is not what is to be written either, nothing of that step is written. LIDs and tops,
// which are parts of an attribute, are looked at one by one.
//
// Where something fails the rest of its step is written and nothing that comes after that. The error names
// what failed or reads otherwise, and wraps [ErrOthers], [ErrDiffers] or [mad.ErrTimeout] as the case may be. It wraps
// [write.ErrUnfit] or [sweep.ErrNoRoute], and nothing is written, if w does not fit f. Once ctx ends nothing
// more is sent; Apply waits for the answers that are under way, reads nothing back, and returns ctx's error.
// There is a report unless nothing was written.
func Apply(ctx context.Context, client *mad.Client, f *fabric.Fabric, w *write.List, opts Options) (*Report, error) {
	start := time.Now()
	a, err := newApplier(ctx, client, f, w, opts)
	if err != nil {
		return nil, fmt.Errorf("apply: %w", err)
	}
	defer a.forget()
	a.planPhases()
	a.writeAll()
	a.enterReadBack()
	a.readBack()
	a.listLeft()
	if a.fatal == nil {
		a.now.Phase = len(a.now.Phases)
		a.tell(true)
	}
	a.report.Elapsed = time.Since(start)
	if err := a.fatal; err != nil {
		return &a.report, fmt.Errorf("apply: %w: %d of %d written (%v)", err, a.report.Written.Total(), w.Len(),
			a.report.Written)
	}
	if err := a.report.err(); err != nil {
		return &a.report, fmt.Errorf("apply: %w", err)
	}
	return &a.report, nil
}

// task is an item on its way.
type task struct {
	write.Item
	done  bool // acknowledged, or found to be so
	mute  bool // could not be looked at, and is not written
	again bool // what it sets was written again
}

// table is what one table is, whatever is in it.
type table struct {
	port fabric.PortIndex
	attr mad.AttrID
	mod  uint32
}

// applier does the work, in one goroutine.
type applier struct {
	ctx    context.Context
	f      *fabric.Fabric
	w      *write.List
	opts   Options
	routes *sweep.Routes
	batch  *mad.Batch
	cancel context.CancelFunc // of the batch
	pulse  mad.Pulse
	limit  int // requests handed to the batch at a time
	report Report
	fatal  error

	lids, states, tops, sl2vls, blocks, mfts []task // by place in w

	infos      []mad.PortInfo // of states
	latest     map[table]*task
	failed     map[fabric.NodeIndex]int // index into report.Failed, by node
	unanswered []uint8                  // requests in a row, by node

	next, n int // of the list that is being worked on
	begin   func(i int)

	steps, allSteps int
	now             Progress
	at              fabric.NodeIndex // the last one that was written or read back, None in a new phase
	told            time.Time        // when now was told
}

func newApplier(ctx context.Context, client *mad.Client, f *fabric.Fabric, w *write.List,
	opts Options) (*applier, error) {
	if err := w.Check(f); err != nil {
		return nil, err
	}
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	a := &applier{
		ctx: ctx, cancel: cancel, f: f, w: w, opts: opts,
		routes: sweep.NewRoutes(f),
		batch:  client.NewBatch(own),
		limit:  client.Options().Window + 1, // the one whose answer is being handled counts
		lids:   tasks(w.LIDs), states: tasks(w.States), tops: tasks(w.Tops),
		sl2vls: tasks(w.SL2VLs), blocks: tasks(w.Blocks), mfts: tasks(w.MFTs),
		infos:      make([]mad.PortInfo, len(w.States)),
		latest:     make(map[table]*task, len(w.Blocks)),
		failed:     map[fabric.NodeIndex]int{},
		unanswered: make([]uint8, len(f.Nodes)),
		allSteps:   2 * w.Len(),
		report:     Report{over: opts.Over},
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

// forget gives up requests that are under way, as they are after a panic, so that the client sends none of
// them again: another commit may have begun by then.
func (a *applier) forget() {
	a.cancel()
	_ = a.batch.Wait() // which says that it was cancelled
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

// kinds are all tasks, in the order in which they are read back.
func (a *applier) kinds() [][]task {
	return [][]task{a.lids, a.tops, a.sl2vls, a.blocks, a.mfts, a.states}
}

// listLeft lists what is not done.
func (a *applier) listLeft() {
	a.report.Left = write.List{
		LIDs:   undone(a.w.LIDs, a.lids),
		Tops:   undone(a.w.Tops, a.tops),
		SL2VLs: undone(a.w.SL2VLs, a.sl2vls),
		Blocks: undone(a.w.Blocks, a.blocks),
		MFTs:   undone(a.w.MFTs, a.mfts),
		States: undone(a.w.States, a.states),
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

// allDone reports whether all of some tasks are done.
func allDone(tasks []*task) bool {
	return !slices.ContainsFunc(tasks, func(t *task) bool { return !t.done })
}
