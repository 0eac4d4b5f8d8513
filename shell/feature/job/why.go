// SPDX-License-Identifier: Apache-2.0

package job

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session/joblinks"
	"example.org/ibconsole/shell/session/jobs"
	"example.org/ibconsole/shell/session/slowdown"
)

var whyCommand = feature.Command{
	Path:    "why",
	Group:   feature.GroupRecord,
	Summary: "Find the links that held back a job, and the reasons",
	Help: "why divides the time of the job into windows with the same tables, failed links and jobs, and finds " +
		"the congestion of\neach window in the recorded counters. A window without waits shows the demand of " +
		"the job. why places this demand on\nthe tables of the other windows, with the suspected reason and " +
		"without it. A reason is \"proved\" if only with it the\nlink is overloaded, for all traffic that " +
		"agrees with the counters. Otherwise it is \"likely\" or \"unknown\". The job is\none of Slurm, a " +
		"set of the command hosts, a recorded set (record start hosts=FILE) with the time in which it\nwas defined, " +
		"or any name with hosts=.",
	Args: []lang.Arg{{Name: "JOB|SET", Kind: lang.KindText}},
	Options: []lang.Option{
		hostsOption,
		{Name: "since", Kind: lang.KindText, Value: "TIME", Summary: "begin of the job; " + when.Help},
		{Name: "until", Kind: lang.KindText, Value: "TIME", Summary: "end of the job (default now)"},
	},
	Examples: []string{
		"hosts slow node-[0001-0004]; why slow since=2h",
		"why 4711 hosts=node-[0001-0064] since=yesterday until=1h",
	},
	Answers: []answer.Declared{&whyDecl},
	Run:     runWhy,
}

// whys is the answer of why.
type whys struct {
	ID      string    `key:"id" help:"the job, or the set of hosts"`
	Since   time.Time `key:"since"`
	Until   time.Time `key:"until"`
	Hosts   int       `key:"hosts" help:"end ports of its hosts in the subnet"`
	Windows int       `key:"windows" help:"parts of the period with the same tables, failed links and jobs"`
	Count   int       `key:"findings" help:"links that held it back, by window"`

	rows []whyRow
}

// whyRow is a row: a link that held back the job in a window.
type whyRow struct {
	From      time.Time    `key:"from" name:"FROM"`
	Until     time.Time    `key:"until" name:"UNTIL"`
	Port      answer.Value `key:"port" name:"PORT" kind:"place" help:"the port that sends; none for an outage"`
	To        answer.Value `key:"to" name:"TO" kind:"place"`
	Held      answer.Value `key:"held" kind:"float" help:"share of time in which ports of its hosts waited, 0 to 1"`
	HeldText  string       `name:"WAITED"`
	Reason    string       `key:"reason" name:"REASON" help:"such as flap or other job"`
	Certainty string       `key:"certainty" name:"CERTAINTY" help:"proved, likely, unknown"`
	Jobs      answer.Value `key:"other_jobs" name:"OTHER JOBS" kind:"texts" help:"other jobs over the link"`
	Outage    answer.Value `key:"outage" kind:"text" help:"the link that was down"`
	Down      answer.Value `key:"outage_since" kind:"time"`
	With      answer.Value `key:"load_with" kind:"float" help:"load of the link with the demand of the job"`
	Without   answer.Value `key:"load_without" kind:"float" help:"load of the busiest link without the reason"`
	Busiest   answer.Value `key:"busiest" kind:"place" help:"that link"`
	Proof     string       `key:"proof" name:"WHAT-IF"`
	answer.Lead
}

var whyDecl = answer.Decl[*whys]{
	Command: "why", Help: "links that held back a job, and the reasons", Facts: answer.Fields[*whys](),
	Title: "why {id} in {of}, from {since} to {until}: {hosts|host}, {windows|window}, {findings|finding}",
	Layout: []answer.Item[*whys]{
		{Table: answer.Show(&answer.Table[whyRow]{
			Key: "links", Title: "links that held it back", Stream: true, Fields: answer.Fields[whyRow](),
			Empty: "nothing is known to have held it back",
		}, func(w *whys) answer.Rows[whyRow] { return answer.Slice(w.rows) })},
	},
}

func runWhy(c *feature.Call) error {
	run, since, until, err := whyRun(c)
	if err != nil {
		return err
	}
	r, err := slowdown.Explain(c.Ctx, c.Session, run, since, until)
	if err != nil {
		return err
	}
	st := c.Session.State()
	if r.Hosts == 0 {
		ends, missing, err := run.Ends(st.Live.Fabric, &places.HostFinder{Fabric: st.Live.Fabric})
		if err != nil {
			return err
		}
		if len(ends) == 0 || len(r.Windows) > 0 {
			return fmt.Errorf("none of the hosts of %s is in the subnet: %s", fabric.Escape(run.ID),
				fabric.Escape(run.Job.Hosts))
		}
		r.Hosts, r.Missing = len(ends), missing
	}
	b := st.Basis(st.Live, 0)
	noteWhy(&b, r)
	w := &whys{ID: run.ID, Since: since.Local(), Until: until.Local(), Hosts: r.Hosts, Windows: len(r.Windows),
		Count: len(r.Findings)}
	for i := range r.Findings {
		w.rows = append(w.rows, whyRowOf(&r.Findings[i]))
	}
	return c.Answer(whyDecl.Answer(b, w))
}

// whyRun returns the job or the set of hosts that the arguments name, and its period.
func whyRun(c *feature.Call) (run *joblinks.Run, since, until time.Time, err error) {
	id := strings.TrimPrefix(c.Arg(0), feature.SetPrefix)
	st := c.Session.State()
	switch {
	case c.Option("hosts", "") == "" && st.Sets.Named(id) != nil:
		if since, until, err = c.Span("2h"); err == nil {
			run, err = c.HostSet(id, since, until)
		}
		return run, since, until, err
	case c.Option("hosts", "") != "" || jobs.ID.MatchString(id):
		var found *jobs.Job
		if found, err = find(c, id); err == nil {
			run = &joblinks.Run{Job: *found}
		} else if set, e := recordedSet(c, id); c.Option("hosts", "") == "" && e == nil { // without Slurm
			run, err = set, nil
		}
	default:
		run, err = recordedSet(c, id)
	}
	if err != nil {
		return nil, since, until, err
	}
	since, until = run.From, run.Until
	if until.IsZero() {
		until = time.Now()
	}
	for name, t := range map[string]*time.Time{"since": &since, "until": &until} {
		if c.Option(name, "") != "" {
			if *t, err = c.Time(name, "", time.Now()); err != nil {
				return nil, since, until, err
			}
		}
	}
	if !since.Before(until) {
		return nil, since, until, fmt.Errorf("%s ran from %s to %s, not in the period of since= and until=",
			fabric.Escape(id), when.Text(run.From), when.Text(run.End(time.Now())))
	}
	return run, since, until, nil
}

// recordedSet returns the last recorded set of hosts with a name, in the period of the options if they are given.
func recordedSet(c *feature.Call, name string) (*joblinks.Run, error) {
	var since, until time.Time
	if c.Option("since", "") != "" || c.Option("until", "") != "" {
		var err error
		if since, until, err = c.Span("30d"); err != nil {
			return nil, err
		}
	}
	return c.HostSet(name, since, until)
}

// noteWhy adds the parts of the report that are not known to the basis.
func noteWhy(b *answer.Basis, r *slowdown.Report) {
	for _, g := range r.NotRecorded {
		why := fmt.Sprintf("%s, %s to %s", g.Why, when.Text(g.From), when.Text(g.Until))
		b.Unread.Note("part of the period", why, 1, answer.Place{})
	}
	for what, err := range map[string]error{"other jobs": r.NoJobs, "states of the past": r.History} {
		if err != nil {
			b.Unread.Note(what, err.Error(), 1, answer.Place{})
		}
	}
	if r.Missing > 0 {
		b.Unread.Note("host of the job", "not in the subnet", r.Missing, answer.Place{})
	}
	saturated, unread, relative := 0, 0, 0
	for _, w := range r.Windows {
		saturated, unread = max(saturated, len(w.Saturated)), max(unread, len(w.NotRead))
		relative = max(relative, w.Relative)
	}
	if saturated > 0 {
		b.Unread.Note("counter", "it reached its maximum (saturated)", saturated, answer.Place{})
	}
	if unread > 0 {
		b.Unread.Note("port", "nothing was recorded", unread, answer.Place{})
	}
	feature.NoteRelativeWaits(b, relative)
}

func whyRowOf(x *slowdown.Finding) whyRow {
	f := x.Window.Picture.Fabric
	held := float64(x.Waited) / float64(x.Until.Sub(x.From))
	row := whyRow{From: x.From.Local(), Until: x.Until.Local(), Port: answer.None(), To: answer.None(),
		Held: answer.Float(held, 3), HeldText: fmt.Sprintf("%.0f %%", 100*held),
		Reason: string(x.Reason), Certainty: string(x.Certainty), Jobs: answer.Texts(slices.Clip(x.Jobs)),
		Outage: answer.None(), Down: answer.None(), With: loadValue(x.With), Without: loadValue(x.Without),
		Busiest: answer.Port(f, x.Busiest)}
	if p := x.Link; p != fabric.None {
		row.Port, row.To, row.Lead = answer.Port(f, p), answer.Port(f, f.Ports[p].Peer), feature.ToPort(f, p)
	}
	what := "the " + string(x.Reason)
	switch x.Reason {
	case slowdown.Flap:
		what = fmt.Sprintf("the flap of %s at %s", fabric.Escape(x.Outage.A.Name), when.Clock(x.Outage.Down.Local()))
		row.Outage = answer.Text(fabric.Escape(x.Outage.A.Name))
		row.Down = answer.Time(x.Outage.Down.Local())
	case slowdown.OtherJob:
		what = cmp.Or(prose.List(x.Jobs, 3), "other hosts")
		what = prose.When(len(x.Jobs) > 0, "job ", "") + what
	case slowdown.Cable:
		what = "the fault of the cable"
	case slowdown.Route:
		what = "these tables"
	}
	row.Proof = x.Text(what)
	return row
}

// loadValue returns a load, or that it is not known.
func loadValue(load float64) answer.Value {
	if load < 0 {
		return answer.NotRead()
	}
	return answer.Float(load, 3)
}
