// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"time"

	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/alerts"
)

// OffWord is the argument that stops what the same command started, as in "watch off".
const OffWord = "off"

// The limits of intervals and durations in seconds. The shortest interval limits the load on subnet managers.
const (
	ShortestInterval = 0.1
	LongestInterval  = 24 * 60 * 60
	longestStay      = 365 * LongestInterval
)

// ForOption returns the option that keeps a command running for a given time.
func ForOption() lang.Option {
	return lang.Option{
		Name: "for", Kind: lang.KindText, Value: "SECONDS", Summary: "print changes for this number of " +
			"seconds, then stop",
	}
}

// ExecOption returns the option with a program that is run for each event.
func ExecOption() lang.Option {
	return lang.Option{Name: "exec", Kind: lang.KindText, Value: "COMMAND",
		Summary: "program with arguments to run for each event; it reads the event as JSON from standard input"}
}

// SetAlertProgram sets the program of the option exec, which is run for each event. Without the option it removes the
// program.
func (c *Call) SetAlertProgram() error {
	text := c.Option("exec", "")
	if text == "" {
		alerts.Stop(c.Session)
		return nil
	}
	stmts, err := lang.Parse("exec", text)
	if err != nil {
		return c.Misused("%v", err)
	}
	if len(stmts) != 1 {
		return c.Misused("exec=%q: expected one program with its arguments", text)
	}
	return alerts.Start(c.Session, stmts[0].Words[0], stmts[0].Words[1:]...)
}

// StayDuration returns the time that [ForOption] sets, or 0 without this option.
func (c *Call) StayDuration() (time.Duration, error) {
	text := c.Option("for", "")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= ShortestInterval && n <= longestStay) {
		return 0, c.Misused("for=%s: expected %g to %d seconds", text, ShortestInterval, longestStay)
	}
	return time.Duration(n * float64(time.Second)), nil
}

// EventTable returns the table of events. If isLive is true, the rows arrive over time.
func EventTable(isLive bool) *answer.Table[session.Event] {
	return &answer.Table[session.Event]{
		Key: "events", Title: "events", Stream: true, Live: isLive, Row: "{when|clock}  {text}",
		Fields: []answer.Field[session.Event]{
			answer.TimeField("when", "WHEN", "time of the sweep that found it", func(e session.Event) time.Time {
				return e.When
			}),
			answer.OptionalField("what", "KIND", "subject: link, node, tables, commit", func(e session.Event) string {
				return e.What
			}),
			answer.TextField("text", "EVENT", "description", func(e session.Event) string { return e.Text }),
			answer.OptionalField("who", "WHO", "user or program", func(e session.Event) string { return e.Who }),
		},
		Lead: func(e session.Event) answer.Lead {
			if e.Change == nil {
				return answer.Lead{}
			}
			return answer.Lead{GUID: e.Change.At.GUID, Port: uint8(max(e.Change.At.Port, 0))}
		},
	}
}

// Stay is the answer with the events of a time span, which are printed as they occur.
type Stay struct {
	Until  string `name:"until"`
	events iter.Seq2[session.Event, error]
}

// DeclareStay declares the answer of a command that prints events as they occur.
func DeclareStay(command string) *answer.Decl[*Stay] {
	table := EventTable(true)
	table.Empty = "nothing changed"
	return &answer.Decl[*Stay]{
		Command: command, Help: "events, as they happen", Title: "events of {of} {until}",
		Facts: answer.Fields[*Stay](),
		Layout: []answer.Item[*Stay]{
			{Table: answer.Show(table, func(s *Stay) answer.Rows[session.Event] { return answer.Once(s.events) })},
		},
	}
}

// StayFor prints events for a duration.
func (c *Call) StayFor(decl *answer.Decl[*Stay], long time.Duration) error {
	ctx, cancel := context.WithTimeout(c.Ctx, long)
	defer cancel()
	return c.stay(ctx, decl, fmt.Sprintf("for %v", long), c.Ctx.Err)
}

// StayUntilSignal prints events until a signal cancels the context of the call.
func (c *Call) StayUntilSignal(decl *answer.Decl[*Stay]) error {
	return c.stay(c.Ctx, decl, "until a signal", func() error { return nil })
}

// The method stay prints events until ctx is done. Then it calls the function ended, which decides whether this end is
// an error.
func (c *Call) stay(ctx context.Context, decl *answer.Decl[*Stay], until string, ended func() error) error {
	w := c.Session.Watch()
	defer w.Stop()
	st := c.Session.State()
	added := st.EventCount()
	events := func(yield func(session.Event, error) bool) {
		for {
			select {
			case <-ctx.Done():
				err := ended()
				if failed := c.Session.State().WatchFailed; err == nil && failed != "" {
					err = errors.New(failed)
				}
				if err != nil {
					yield(session.Event{}, err)
				}
				return
			case <-w.C:
				w.Take()
			}
			now := c.Session.State()
			fresh := now.EventsSince(added)
			added = now.EventCount()
			for _, e := range fresh {
				if !yield(e, nil) {
					return
				}
			}
		}
	}
	return c.Answer(decl.Answer(st.Basis(st.Live, session.NeedLinks|session.NeedFile), &Stay{until, events}))
}
