// SPDX-License-Identifier: Apache-2.0

// Package watch keeps the live state current and lists the events that sweeps find.
package watch

import (
	"strconv"
	"time"

	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/alerts"
)

// Feature provides the commands "watch" and "show events".
var Feature = feature.Feature{Name: "watch", Keys: []feature.Key{
	{Name: "watch", Keys: "W", Help: "start or stop reading the subnet at an interval; :watch SECONDS sets it"},
}, Commands: []feature.Command{
	{
		Path: "watch", Group: feature.GroupLook, Summary: "Keep the live state current with light sweeps",
		Help: "show events lists the changes that sweeps find. As the last command of -c, run FILE or the command " +
			"line, watch\nprints the changes until a signal, which is its normal end.",
		Args:     []lang.Arg{{Name: "SECONDS|off", Kind: lang.KindText, Words: []string{feature.OffWord}}},
		Options:  []lang.Option{feature.ForOption(), feature.ExecOption()},
		Examples: []string{"watch 10 for=2", "watch 10; watch off"},
		Answers:  []answer.Declared{onDecl, offDecl, stayDecl},
		Run:      watch,
	},
	{
		Path: "show events", Summary: "List the changes that sweeps found",
		Examples: []string{"sweep full; show events", "watch 10 for=2; show events"},
		Answers:  []answer.Declared{&eventsDecl},
		Run:      events,
	},
}}

// interval is the time between sweeps.
type interval struct {
	Seconds float64 `key:"seconds" help:"0: watching is off"`
	Text    string  `name:"interval"`
}

var (
	onDecl = feature.OneLine[interval]("watch", "the interval",
		"watching: a light sweep every {interval} s (show events lists changes, watch off ends it)")
	offDecl  = feature.OneLine[interval]("watch", "the interval", "no longer watching")
	stayDecl = feature.DeclareStay("watch")
)

func watch(c *feature.Call) error {
	st := c.Session.State()
	if c.Arg(0) == feature.OffWord {
		stop(c)
		return c.Answer(offDecl.Answer(st.SourceBasis(), interval{}))
	}
	stay, err := c.StayDuration()
	if err != nil {
		return err
	}
	n, err := strconv.ParseFloat(c.Arg(0), 64)
	if err != nil || !(n >= feature.ShortestInterval && n <= feature.LongestInterval) {
		return c.Misused("%q is not a time: expected %g to %d seconds, or off", c.Arg(0), feature.ShortestInterval,
			feature.LongestInterval)
	}
	if err := c.Session.KeepCurrent(time.Duration(n * float64(time.Second))); err != nil {
		return err
	}
	if err := c.SetAlertProgram(); err != nil {
		stop(c)
		return err
	}
	switch {
	case stay > 0:
		defer stop(c)
		return c.StayFor(stayDecl, stay)
	case c.Output.IsLast():
		defer stop(c)
		return c.StayUntilSignal(stayDecl)
	}
	return c.Answer(onDecl.Answer(st.SourceBasis(), interval{n, strconv.FormatFloat(n, 'g', -1, 64)}))
}

// stop ends the sweeps, and the alerts about events that sweeps find.
func stop(c *feature.Call) {
	c.Session.StopKeeping()
	alerts.Stop(c.Session)
}

// found holds the events that sweeps found.
type found struct {
	None   bool `name:"none"`
	Hint   bool `name:"hint"` // watching is off
	events []session.Event
}

var eventsDecl = answer.Decl[*found]{
	Command: "show events", Help: "the changes that sweeps found", Facts: answer.Fields[*found](),
	Layout: []answer.Item[*found]{
		{Line: "{?none}no sweep has found a change[{?hint}; hint: 'watch SECONDS' sweeps at an interval]"},
		{
			Table: answer.Show(feature.EventTable(false), func(f *found) answer.Rows[session.Event] {
				return answer.Slice(f.events)
			}),
		},
	},
}

func events(c *feature.Call) error {
	st := c.Session.State()
	f := &found{None: len(st.Events) == 0, Hint: st.Every == 0, events: st.Events}
	return c.Answer(eventsDecl.Answer(st.Basis(st.Live, session.NeedLinks|session.NeedFile), f))
}
