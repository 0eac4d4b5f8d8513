// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/sweep"
	"example.org/ibconsole/mad"
)

// Options say how to write.
type Options struct {
	// Progress, where set, is called now and then by the goroutine that writes,
	// with the number of steps done and that of all. Reading back counts too. It
	// must be quick.
	Progress func(done, total int)
}

// Apply writes w to the subnet of f, reads all that was written back and reports.
// f must be the subnet as it is: its links are the way to its switches.
//
// Where something fails the rest of its step is written and nothing that comes
// after that. The error names what failed or reads otherwise, and wraps [ErrDiffers] or
// [mad.ErrTimeout] as the case may be. It wraps [ErrWrites] or
// [sweep.ErrNoRoute], and nothing is written, if w does not fit f. Once ctx ends
// nothing more is sent; Apply waits for the answers that are under way, reads
// nothing back, and returns ctx's error. There is a report unless nothing was
// written.
func Apply(ctx context.Context, client *mad.Client, f *fabric.Fabric, w *Writes, opts Options) (*Report, error) {
	start := time.Now()
	a, err := newApplier(ctx, client, f, w, opts)
	if err != nil {
		return nil, fmt.Errorf("apply: %w", err)
	}
	a.write()
	a.readBack()
	a.listLeft()
	a.report.Elapsed = time.Since(start)
	if err := a.fatal; err != nil {
		return &a.report, fmt.Errorf("apply: %w: %d of %d written (%v)", err, a.report.Written.Total(), w.Len(), a.report.Written)
	}
	if err := a.report.err(); err != nil {
		return &a.report, fmt.Errorf("apply: %w", err)
	}
	return &a.report, nil
}

// done says which of the writes are done.
type done struct{ lids, tops, lanes, blocks, mfts, states []bool }

// begun counts the writes of the steps that were begun, of those that may be written
// more than once.
type begun struct{ lanes, blocks, mfts int }

// applier does the work, in one goroutine.
type applier struct {
	ctx    context.Context
	f      *fabric.Fabric
	w      *Writes
	opts   Options
	batch  *mad.Batch
	pulse  mad.Pulse
	limit  int // requests handed to the batch at a time
	report Report
	fatal  error

	switchPath []mad.Path // by switch
	lidPath    []mad.Path // by w.LIDs
	statePath  []mad.Path // by w.States
	lanePath   []mad.Path // by w.Lanes
	infos      []mad.PortInfo
	done       done
	failed     map[fabric.NodeIndex]int // index into report.Failed, by node
	unanswered []uint8                  // requests in a row, by node

	begun   begun
	low     map[fabric.SwitchIndex]uint16 // MulticastFDBTops that are yet to be reached, by switch
	next, n int                           // of the list that is being worked on
	begin   func(i int)

	steps, allSteps int
}

func newApplier(ctx context.Context, client *mad.Client, f *fabric.Fabric, w *Writes, opts Options) (*applier, error) {
	if err := w.check(f); err != nil {
		return nil, err
	}
	a := &applier{
		ctx: ctx, f: f, w: w, opts: opts,
		batch:      client.NewBatch(context.WithoutCancel(ctx)),
		limit:      client.Options().Window + 1, // the one whose answer is being handled counts
		failed:     map[fabric.NodeIndex]int{},
		unanswered: make([]uint8, len(f.Nodes)),
		infos:      make([]mad.PortInfo, len(w.States)),
		allSteps:   2 * w.Len(),
	}
	a.done = done{
		lids: make([]bool, len(w.LIDs)), tops: make([]bool, len(w.Tops)), lanes: make([]bool, len(w.Lanes)),
		blocks: make([]bool, len(w.Blocks)), mfts: make([]bool, len(w.MFTs)), states: make([]bool, len(w.States)),
	}
	return a, a.route()
}

// route finds the way to all that is to be written.
func (a *applier) route() (err error) {
	routes := sweep.NewRoutes(a.f)
	a.switchPath = make([]mad.Path, len(a.f.Switches))
	need := make([]bool, len(a.f.Switches))
	for _, t := range a.w.Tops {
		need[t.Switch] = true
	}
	for i := range a.w.Blocks {
		need[a.w.Blocks[i].Switch] = true
	}
	for i := range a.w.MFTs {
		need[a.w.MFTs[i].Switch] = true
	}
	for i := range a.w.Lanes {
		if sw := a.f.Nodes[a.w.Lanes[i].Node].Switch; sw != fabric.None {
			need[sw] = true
		}
	}
	for sw := range need {
		if need[sw] {
			if a.switchPath[sw], err = routes.ToNode(a.f.Switches[sw]); err != nil {
				return err
			}
		}
	}
	a.lanePath = make([]mad.Path, len(a.w.Lanes))
	for i := range a.w.Lanes {
		l := &a.w.Lanes[i]
		if sw := a.f.Nodes[l.Node].Switch; sw != fabric.None {
			a.lanePath[i] = a.switchPath[sw]
		} else if a.lanePath[i], err = routes.ToPort(a.f.Port(l.Node, l.Out)); err != nil {
			return err
		}
	}
	a.lidPath, a.statePath = make([]mad.Path, len(a.w.LIDs)), make([]mad.Path, len(a.w.States))
	for i, l := range a.w.LIDs {
		if a.lidPath[i], err = routes.ToPort(l.Port); err != nil {
			return err
		}
	}
	for i, s := range a.w.States {
		if a.statePath[i], err = routes.ToPort(s.Port); err != nil {
			return err
		}
	}
	return nil
}

// listLeft lists what is not done.
func (a *applier) listLeft() {
	a.report.Left = Writes{
		LIDs:   undone(a.w.LIDs, a.done.lids),
		Tops:   undone(a.w.Tops, a.done.tops),
		Lanes:  undone(a.w.Lanes, a.done.lanes),
		Blocks: undone(a.w.Blocks, a.done.blocks),
		MFTs:   undone(a.w.MFTs, a.done.mfts),
		States: undone(a.w.States, a.done.states),
	}
}

func undone[T any](all []T, done []bool) []T {
	var left []T
	for i := range all {
		if !done[i] {
			left = append(left, all[i])
		}
	}
	return left
}
