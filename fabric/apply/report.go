// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"fmt"
	"time"

	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
)

// Report is the result of writing.
type Report struct {
	Written  Counts       // acknowledged, or found unchanged
	ReadBack Counts       // of the written items, those read again; for a block only the last write
	Differ   []Difference // the written items that read differently
	Failed   []Failure    // the first failed write or read of each node
	// Others holds the data that another program wrote after the writes were planned. Apply finds such data before it
	// overwrites them, and does so only if Options.Overwrite is set.
	Others write.Conflicts
	// Mixed holds the entries whose value read back differs from the written value. Was is the written value.
	Mixed write.Conflicts
	// Stopped is the name of the phase that was not written completely; later phases did not begin. It is "LIDs",
	// "ports", "raised LinearFDBTops", "SL2VL tables", "SL2VL tables before step 2 of 3", "step 2 of 3", "lowered
	// LinearFDBTops", "late SL2VL tables", "multicast branches to remove", "multicast branches to add", or "port
	// control 1 of 2". It is "" if all phases were written.
	Stopped string
	// Left holds the writes that are not known to be done. They were not sent, were refused, or were not answered.
	Left     write.List
	Requests int // reads and writes, without repetitions
	Looks    int // reads that check tables before writing
	Sets     int // writes passed to the client; 0 means that certainly nothing was written
	Elapsed  time.Duration

	overwrite bool // Options.Overwrite
}

// Counts holds the number of writes of each kind.
type Counts struct{ LIDs, Tops, SL2VLs, Blocks, MFTs, States, Controls int }

// of returns the count for an item's kind.
func (c *Counts) of(item write.Item) *int {
	switch item.(type) {
	case *write.LID:
		return &c.LIDs
	case *write.Top:
		return &c.Tops
	case *write.SL2VL:
		return &c.SL2VLs
	case *write.Block:
		return &c.Blocks
	case *write.MFTBlock:
		return &c.MFTs
	case *write.Control:
		return &c.Controls
	}
	return &c.States
}

// Total returns the sum.
func (c Counts) Total() int {
	return c.LIDs + c.Tops + c.SL2VLs + c.Blocks + c.MFTs + c.States + c.Controls
}

// String returns the counts as text, for example "12 LIDs, 4 LinearFDBTops, 208 blocks, 40 port states". SL2VL tables
// and multicast blocks appear only if there are any. Port controls are written without tables, so the counts of tables
// do not appear next to them.
func (c Counts) String() string {
	var text string
	if c.Controls > 0 {
		text = number(c.Controls, "port control")
		if c.States > 0 {
			text += ", " + number(c.States, "port state")
		}
		return text
	}
	text = fmt.Sprintf("%s, %s, %s, %s", number(c.LIDs, "LID"), number(c.Tops, "LinearFDBTop"),
		number(c.Blocks, "block"),
		number(c.States, "port state"))
	if c.SL2VLs > 0 {
		text += ", " + number(c.SL2VLs, "SL2VL table")
	}
	if c.MFTs > 0 {
		text += ", " + number(c.MFTs, "MFT block")
	}
	return text
}

func number(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Difference is a value that was read back and differs from the written value.
type Difference struct {
	Node      string // escaped name; GUID is the node GUID
	GUID      uint64
	What      string // for example "LID of port 1", "LinearFDBTop", "block 3, LID 200"
	Want, Got string
}

// String returns a difference as text, for example "sw1: LinearFDBTop is 0, expected 208".
func (d Difference) String() string {
	return fmt.Sprintf("%s: %s is %s, expected %s", d.Node, d.What, d.Got, d.Want)
}

// Failure is a node with failed writes or reads. It holds the first error and the number of failures.
type Failure struct {
	Node  string // escaped
	GUID  uint64
	Count int // writes of the node that failed or were given up
	Err   error
}

// Error returns a text such as "sw1: Set LinearForwardingTable 3 by directed route 0,1,5: no answer ... (and 204
// more)".
func (f Failure) Error() string {
	return fmt.Sprintf("%s: %v%s", f.Node, f.Err, more(f.Count))
}

func (f Failure) Unwrap() error { return f.Err }

// err returns the error that Apply returns with the report, nil if everything succeeded.
func (r *Report) err() error {
	var err error
	if n := len(r.Failed); n > 0 {
		err = r.Failed[0]
		if n > 1 {
			err = fmt.Errorf("%w; %s failed", err, prose.Count(n-1, "more node"))
		}
		if r.Stopped != "" {
			err = fmt.Errorf("stopped in %s, later steps were not begun: %w", r.Stopped, err)
		}
	}
	if n := r.Others.Count; n > 0 && !r.overwrite {
		others := fmt.Errorf("stopped in %s: %w: %v%s", r.Stopped, ErrOthers, &r.Others.List[0], more(n))
		if err != nil {
			others = fmt.Errorf("%w; %w", others, err)
		}
		err = others
	}
	if n := len(r.Differ); n > 0 {
		differs := fmt.Errorf("%d of %d read back %w: %v", n, r.ReadBack.Total(), ErrDiffers, r.Differ[0])
		if err == nil {
			return differs
		}
		err = fmt.Errorf("%w; %w", err, differs)
	}
	return err
}

func more(n int) string {
	if n > 1 {
		return fmt.Sprintf(" (and %d more)", n-1)
	}
	return ""
}

// ErrOthers reports that another program has written data that Apply was about to overwrite.
var ErrOthers = errors.New("another program has written to the switches since they were read")

// ErrDiffers reports that a value read back differs from the written value.
var ErrDiffers = errors.New("read-back mismatch")

var errSilent = fmt.Errorf("%w to earlier requests", mad.ErrTimeout)

// holds reads tables that were just written, and reports whether the switches hold them. Tables that they hold are not
// read again at the end.
func (a *applier) holds(tasks []*task) bool {
	same := true
	a.each(len(tasks), func(i int) {
		t := tasks[i]
		item, ok := t.Item.(write.Table)
		if !ok {
			return
		}
		a.ask(item.Target(a.f), item.Get(a.f), func(now *mad.Reply) {
			t.verified = true
			item.Verify(a.f, now, func(_ string, want, got any) { t.verified = t.verified && want == got })
			same = same && t.verified
		}, func() bool { same = false; return false })
	})
	return same && a.fatal == nil
}

// readBack reads everything that was written and records the values that differ.
func (a *applier) readBack() {
	for _, kind := range a.kinds() {
		a.each(len(kind), func(i int) {
			t := &kind[i]
			if !t.done || t.again || t.verified {
				if t.verified && !t.again {
					*a.report.ReadBack.of(t.Item)++
				}
				a.step()
				return
			}
			port := t.Target(a.f)
			node := a.f.Ports[port].Node
			a.ask(port, t.Get(a.f), func(now *mad.Reply) {
				a.at = node
				*a.report.ReadBack.of(t.Item)++
				a.step()
				if table, ok := t.Item.(write.Table); ok {
					is, wrote := now.Data, table.Data()
					table.Conflicts(&wrote, &is, &wrote, a.conflict(port, &a.report.Mixed))
				}
				t.Verify(a.f, now, func(what string, want, got any) {
					if want != got {
						a.report.Differ = append(a.report.Differ, Difference{
							Node: a.f.NodeName(node), GUID: a.f.Nodes[node].GUID, What: what, Want: fmt.Sprint(want),
							Got: fmt.Sprint(got),
						})
					}
				})
			}, nil)
		})
	}
}
