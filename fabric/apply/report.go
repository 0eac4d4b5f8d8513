// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"errors"
	"fmt"
	"time"

	"example.org/ibconsole/fabric/write"
	"example.org/ibconsole/mad"
)

// Report says what became of writes.
type Report struct {
	Written  Counts       // acknowledged, or were found to be so already
	ReadBack Counts       // those of them that were read again: of the writes of one block the last
	Differ   []Difference // those of them that read otherwise
	Failed   []Failure    // the writes and readings that failed, the first of a node's
	// Others is what somebody else wrote since the writes were planned, and was found before it was written
	// over. What was found was not written over, unless the options said so.
	Others write.Conflicts
	// Mixed are the entries that read otherwise than they were written: Was is what was written.
	Mixed write.Conflicts
	// Stopped says in what not all was written, so that what comes after it was not begun: "ports", "tops
	// that rise", "SL2VL tables", "step 2 of 3", "tops that fall", "late SL2VL tables", "multicast branches
	// to take away", "multicast branches to add"; "" where all was.
	Stopped string
	// Left are writes not known to be done: not sent, refused, or unanswered, of which nobody knows.
	Left     write.List
	Requests int // questions and writes, not how often they were sent
	Looks    int // questions that looked whether something is as it was, of tables
	Sets     int // writes that were handed to the client; 0: nothing was written for certain
	Elapsed  time.Duration

	over bool // says that what others wrote is written over
}

// Counts count writes by kind.
type Counts struct{ LIDs, Tops, SL2VLs, Blocks, MFTs, States int }

// of is the count of an item's kind.
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
	}
	return &c.States
}

// Total is the sum.
func (c Counts) Total() int { return c.LIDs + c.Tops + c.SL2VLs + c.Blocks + c.MFTs + c.States }

// String says for example "12 LIDs, 4 tops, 208 blocks, 40 port states", and of SL2VL
// tables and multicast blocks where there are any.
func (c Counts) String() string {
	text := fmt.Sprintf("%s, %s, %s, %s", number(c.LIDs, "LID"), number(c.Tops, "top"), number(c.Blocks, "block"),
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

// Difference is something that reads otherwise than it was written.
type Difference struct {
	Node      string // the node's escaped name, GUID its node GUID
	GUID      uint64
	What      string // what differs, "LID of port 1", "LinearFDBTop", "block 3, LID 200"
	Want, Got string
}

// String says for example "sw1: LinearFDBTop is 0 and not 208".
func (d Difference) String() string {
	return fmt.Sprintf("%s: %s is %s and not %s", d.Node, d.What, d.Got, d.Want)
}

// Failure is a node that could not be written or read, and why at first.
type Failure struct {
	Node  string // escaped
	GUID  uint64
	Count int // how many of the node's writes failed or were not tried any more
	Err   error
}

// Error returns "sw1: Set LinearForwardingTable 3 by directed route 0,1,5: no answer ... (and 204 more)".
func (f Failure) Error() string {
	return fmt.Sprintf("%s: %v%s", f.Node, f.Err, more(f.Count))
}

func (f Failure) Unwrap() error { return f.Err }

// err sums the report up, nil if all is as it was meant to be.
func (r *Report) err() error {
	var err error
	if n := len(r.Failed); n > 0 {
		err = r.Failed[0]
		if n > 1 {
			err = fmt.Errorf("%w; %d more nodes failed", err, n-1)
		}
		if r.Stopped != "" {
			err = fmt.Errorf("stopped in %s, what comes after was not begun: %w", r.Stopped, err)
		}
	}
	if n := r.Others.Count; n > 0 && !r.over {
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

// ErrOthers says that somebody else wrote what was about to be written over.
var ErrOthers = errors.New("somebody else has written to the switches since they were read")

// ErrDiffers says that something reads otherwise than it was written.
var ErrDiffers = errors.New("read-back mismatch")

var errSilent = fmt.Errorf("%w to anything", mad.ErrTimeout)
