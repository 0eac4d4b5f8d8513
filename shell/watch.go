// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"context"
	"strconv"
	"time"

	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
)

const offWord = "off"

func watchCommands() []Spec {
	return []Spec{
		{Name: "watch", Summary: "keep the live picture current: sweep lightly every so many seconds; show events lists what changed",
			Args: []lang.Arg{{Name: "SECONDS|off", Kind: lang.KindText, Words: []string{offWord}}},
			Options: []lang.Option{{Name: "for", Kind: lang.KindText, Value: "SECONDS",
				Summary: "stay for so long, print what changes as it does, then stop watching"}, execOption()}, Run: runWatch},
		{Name: "capture", Summary: "write every MAD sent and received to a file that Wireshark reads, without keys",
			Args: []lang.Arg{{Name: "FILE|off", Kind: lang.KindFile, Words: []string{offWord}}}, Run: runCapture},
	}
}

// The bounds of a watch's interval in seconds: no subnet manager is asked to
// stand more, and none sweeps less often than once a day.
const (
	shortestWatch = 0.1
	longestWatch  = 24 * 60 * 60
	longestStay   = 365 * longestWatch
)

func runWatch(c *call) error {
	if c.Arg(0) == offWord {
		c.session.StopKeeping()
		return c.say(object{"seconds": 0}, "no longer watching")
	}
	stay, err := c.stay()
	if err != nil {
		return err
	}
	n, err := strconv.ParseFloat(c.Arg(0), 64)
	if err != nil || !(n >= shortestWatch && n <= longestWatch) {
		return c.Misused("%q is no time, expected %g to %d seconds, or off", c.Arg(0), shortestWatch, longestWatch)
	}
	if err := c.session.KeepCurrent(time.Duration(n * float64(time.Second))); err != nil {
		return err
	}
	if err := c.alertBy(); err != nil {
		c.session.StopKeeping()
		return err
	}
	if stay > 0 {
		defer c.session.StopKeeping()
		return c.printEvents(stay)
	}
	return c.say(object{"seconds": n}, "watching: a light sweep every %g s (show events lists what changed; watch off ends it)", n)
}

func execOption() lang.Option {
	return lang.Option{Name: "exec", Kind: lang.KindText, Value: "COMMAND",
		Summary: "run it for each event, which it gets as JSON on standard input: a program and its arguments, quoted as here, given to no shell"}
}

// alertBy has the program of the option exec told of events.
func (c *call) alertBy() error {
	text := c.Option("exec", "")
	if text == "" {
		return nil
	}
	stmts, err := lang.Parse("exec", text)
	if err != nil {
		return c.Misused("%v", err)
	}
	if len(stmts) != 1 {
		return c.Misused("exec=%q: expected one program with its arguments", text)
	}
	return c.session.AlertBy(stmts[0].Words[0], stmts[0].Words[1:]...)
}

// stay is how long to watch, 0 where that is not said.
func (c *call) stay() (time.Duration, error) {
	text := c.Option("for", "")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= shortestWatch && n <= longestStay) {
		return 0, c.Misused("for=%s is no time, expected %g to %d seconds", text, shortestWatch, longestStay)
	}
	return time.Duration(n * float64(time.Second)), nil
}

// printEvents prints events as they come, for some time.
func (c *call) printEvents(long time.Duration) error {
	ctx, cancel := context.WithTimeout(c.ctx, long)
	defer cancel()
	w := c.session.Watch()
	defer w.Stop()
	events := c.session.State().Events
	last := time.Now()
	shown := 0
	if len(events) > 0 {
		last = events[len(events)-1].When
	}
	for {
		select {
		case <-ctx.Done():
			if c.ctx.Err() == nil && shown == 0 {
				c.out.note("nothing changed in %v", long)
			}
			return c.ctx.Err()
		case <-w.C:
			w.Take()
		}
		for _, e := range c.session.State().Events {
			if !e.When.After(last) {
				continue
			}
			last = e.When
			shown++
			if err := c.list(nil, eachRow([]eventRow{eventOf(e)})); err != nil {
				return err
			}
		}
	}
}

type eventRow struct {
	leads
	When string `json:"when"`
	What string `json:"what,omitempty"`
	Text string `json:"text"`
	Who  string `json:"who,omitempty"`
	at   time.Time
}

func eventOf(e session.Event) eventRow {
	r := eventRow{When: e.When.Format(time.RFC3339), What: e.What, Text: e.Text, Who: e.Who, at: e.When}
	if e.Change != nil {
		r.leads = leads{Lead{GUID: e.Change.At.GUID, Port: uint8(max(e.Change.At.Port, 0))}}
	}
	return r
}

func (e eventRow) Cells() []any { return []any{e.at.Format(time.TimeOnly) + "  " + e.Text} }

// Detail implements [Detailed].
func (e eventRow) Detail() []any {
	return []any{e.at.Format(time.DateTime), orDash(e.What), e.Text, orDash(e.Who)}
}

func showEvents(c *call) error {
	st := c.session.State()
	why := "no sweep has found anything new"
	if st.Every == 0 {
		why += " (watch SECONDS looks again and again)"
	}
	var rows []eventRow
	for _, e := range st.Events {
		rows = append(rows, eventOf(e))
	}
	return c.out.Answer(&List{Rows: eachRow(rows), Details: []string{"WHEN", "WHAT", "EVENT", "WHO"}, Empty: why})
}

func runCapture(c *call) error {
	if c.Arg(0) == offWord {
		path, stats, err := c.session.Connection().StopCapture()
		if err != nil {
			return err
		}
		return c.say(captured{path, stats.Sent, stats.Received, stats.Lost},
			"captured %d MADs sent and %d received in %s; %d not written", stats.Sent, stats.Received, quoteFile(path), stats.Lost)
	}
	if c.Arg(0) == "-" {
		return c.Misused("a capture goes to a file, and standard output has the answers; for a program that reads on: mkfifo FILE; wireshark -k -i FILE; capture FILE")
	}
	if err := c.session.Capture(c.Arg(0)); err != nil {
		return err
	}
	return c.say(object{"file": c.Arg(0)}, "capturing to %s (capture off ends it); keys are written as 0", quoteFile(c.Arg(0)))
}

type captured struct {
	File     string `json:"file"`
	Sent     uint64 `json:"sent"`
	Received uint64 `json:"received"`
	Lost     uint64 `json:"lost"`
}
