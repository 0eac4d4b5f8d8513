// SPDX-License-Identifier: Apache-2.0

// Package record records the counters of ports and the events of a subnet.
package record

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/slurm"
	"example.org/ibconsole/fabric/places"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/history/records"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/feature"
	"example.org/ibconsole/shell/lang"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/metrics"
	"example.org/ibconsole/shell/session/recorded"
	"example.org/ibconsole/shell/session/recording"
	"example.org/ibconsole/shell/session/smlog"
)

// Feature has the commands record.
var Feature = feature.Feature{Name: "record", Commands: []feature.Command{
	{Path: "record", Group: feature.GroupRecord, Summary: "Record counters and events for later queries"},
	{
		Path: "record start", Summary: "Record from now on",
		Help: "record start reads a share of the ports each second, while other commands run. ibconsole record does " +
			"the same without a\nconsole, until a signal ends it. counters history, counters worst and report " +
			"morning read the recording, in any console\non this machine. smlog=FILE adds sweeps, traps, errors and " +
			"state changes of the subnet manager to the events. OpenSM\nlogs the beginnings and causes of sweeps " +
			"only with opensm -D 0x07.",
		Options: []lang.Option{
			seconds("every", "interval at which errors and XmitWait of all ports are read (default 60)"),
			seconds("traffic", "interval at which data and packets are read (default 600)"),
			seconds("sweep", "interval of light sweeps, unless watch runs (default 30)"),
			{
				Name: "web", Kind: lang.KindFile,
				Summary: "with metrics=: TLS and users, as --web.config.file of the exporters of Prometheus",
			},
			{
				Name: "insecure", Kind: lang.KindFlag,
				Summary: "serve metrics to other machines without TLS and users",
			},
			{
				Name: "metrics", Kind: lang.KindText, Value: "[HOST:]PORT",
				Summary: "serve metrics to Prometheus at http://HOST:PORT/metrics (default HOST: this machine only)",
			},
			{
				Name: "smlog", Kind: lang.KindFile, Value: "FILE",
				Summary: "follow the subnet manager's log (opensm.log)",
			},
			{
				Name: "hosts", Kind: lang.KindFile, Value: "FILE",
				Summary: "record sets of hosts, for jobs without Slurm: lines NAME HOSTS",
			},
			{
				Name: "hardware", Kind: lang.KindFile, Value: "FOLDER",
				Summary: "ibdiagnet folder, less than a day old, for metrics of the hardware of switches",
			},
			{
				Name: "ports", Kind: lang.KindWord, Words: []string{recording.PortsYes, recording.PortsNo},
				Summary: "serve metrics of ports (default yes, unless another recorder does)",
			},
			{
				Name: "details", Kind: lang.KindFlag,
				Summary: "also serve the details of receive errors, with one more packet per port",
			},
			feature.ExecOption(),
			{Name: "stay", Kind: lang.KindFlag, Summary: "print changes as they happen, until a signal"},
		},
		Examples: []string{
			"record start; record status", "record start every=300 traffic=1800", "record start smlog=opensm.log",
			"record start hosts=jobs.txt",
		},
		Answers: []answer.Declared{startDecl, Stay},
		Run:     start,
	},
	{
		Path: "record stop", Summary: "Stop recording", Help: "The recorded data is kept.",
		Examples: []string{
			"record start; record stop",
			"record start metrics=127.0.0.1:0; record stop",
		},
		Answers: []answer.Declared{stopDecl},
		Run:     stop,
	},
	{
		Path: "record status", Summary: "Show the state, times and size of the recording",
		Examples: []string{
			"record status",
			"record start; record status",
		},
		Answers: []answer.Declared{&statusDecl},
		Run:     showStatus,
	},
	alertsCommand,
	{
		Path: "record keep", Summary: "Show or set the size limit of recordings",
		Help:    "The oldest samples of the finest resolution are deleted first.",
		Options: []lang.Option{{Name: "megabytes", Kind: lang.KindInt, Summary: "size limit in MB, 16 or more"}},
		Examples: []string{
			"record start; record keep",
			"record start; record keep megabytes=500",
		},
		Answers: []answer.Declared{keepDecl},
		Run:     keep,
	},
}}

func seconds(name, summary string) lang.Option {
	return lang.Option{Name: name, Kind: lang.KindText, Value: "SECONDS", Summary: summary}
}

// The default intervals of a recorder.
const (
	defaultEvery   = time.Minute
	defaultTraffic = 10 * time.Minute
	defaultSweep   = 30 * time.Second
)

// status describes the recorder and the recorded data.
type status struct {
	File       answer.Value `key:"file" name:"file" kind:"text"`
	Running    bool         `key:"running" name:"running" help:"this session records"`
	Elsewhere  bool         `key:"elsewhere" name:"elsewhere" help:"another session of this machine records the subnet"`
	Began      time.Time    `key:"began" name:"began"`
	Every      answer.Value `key:"every_seconds" kind:"duration" help:"interval at which errors and XmitWait are read"`
	Traffic    answer.Value `key:"traffic_seconds" kind:"duration" help:"interval at which data and packets are read"`
	Rounds     answer.Value `key:"rounds" name:"rounds" kind:"int" help:"completed rounds over all ports"`
	Ports      answer.Value `key:"ports" kind:"int" help:"ports that responded in the last round"`
	Unanswered answer.Value `key:"unanswered" name:"unanswered" kind:"int"`
	PerSecond  answer.Value `key:"ports_per_second" kind:"float"`
	Metrics    answer.Value `key:"metrics" name:"metrics" kind:"text" help:"the address at which metrics are served"`
	URL        answer.Value `key:"metrics_url" kind:"text" help:"the URL for Prometheus"`
	Failed     answer.Value `key:"failed" name:"failed" kind:"text" help:"why the last round failed"`
	SMLog      answer.Value `key:"sm_log" name:"sm log" kind:"text" help:"the followed log of the subnet manager"`
	SMLogLast  time.Time    `key:"sm_log_last" name:"sm log last" help:"the last event in that log"`
	SMLogBad   answer.Value `key:"sm_log_failed" name:"sm log failed" kind:"text" help:"why it is not read"`
	SMLogMarks answer.Value `key:"sm_log_sweeps" kind:"bool" help:"it has the beginnings and causes of sweeps"`
	Used       answer.Value `key:"used_bytes" kind:"int" unit:"bytes"`
	Bound      answer.Value `key:"kept_bytes" kind:"int" unit:"bytes" help:"size limit"`
	Since      time.Time    `key:"since" name:"since" help:"the first reading"`
	Until      time.Time    `key:"until" name:"until" help:"the last reading"`
	Alerts     answer.Value `key:"active_alerts" kind:"int" help:"not read if nothing records"`

	// For people.
	EveryText   string       `name:"every"`
	TrafficText string       `name:"traffic"`
	Asked       answer.Value `name:"asked" kind:"int"`
	NoRound     bool         `name:"no round"`
	Nothing     bool         `name:"nothing runs"`
	NoReadings  bool         `name:"no readings"`
	Recorded    bool         `name:"recorded"`
	Megabytes   answer.Value `name:"megabytes" kind:"float"`
	Most        answer.Value `name:"most" kind:"int"`
	NoMarks     bool         `name:"no marks"`
	AlertsText  string       `name:"alerts"`
	f           *fabric.Fabric
	alerts      []problems.Problem
}

// newestAlerts is the number of alerts that record status lists.
const newestAlerts = 3

var (
	facts     = answer.Fields[*status]()
	startDecl = &answer.Decl[*status]{
		Command: "record start", Help: "the recording", Facts: facts, Layout: []answer.Item[*status]{}, Action: true,
		Title: "recording to {file}: errors and XmitWait every {every}, traffic every {traffic}[, metrics at " +
			"{metrics_url}] (record status, record stop)",
	}
	stopDecl = &answer.Decl[*status]{Command: "record stop", Help: "the ended recording", Facts: facts,
		Title: "no longer recording", Layout: []answer.Item[*status]{}, Action: true}
	statusDecl = answer.Decl[*status]{
		Command: "record status", Help: "the recording, and what was recorded", Facts: facts,
		Layout: []answer.Item[*status]{
			{Line: "{?running}recording since {began}: errors and XmitWait every {every}, traffic every {traffic}"},
			{
				Line: "{?asked}  {rounds|round} read; the last one read {asked|port}, {ports_per_second} per second; " +
					"{unanswered} unanswered",
			},
			{Line: "[  metrics at {metrics_url}]"},
			{Line: "{?no round}  no round was read yet"},
			{Line: "{?elsewhere}another ibconsole on this machine records this subnet"},
			{Line: "{?nothing runs}not recording; hint: 'record start', or 'ibconsole record' without a console"},
			{Line: "{?failed}  failed: {failed}"},
			{Line: "{?sm_log}  following the subnet manager's log {sm_log}[, last event {sm_log_last}]"},
			{Line: "{?no marks}    it lacks the beginnings and causes of sweeps (opensm -D 0x07): " + smlog.NotLogged},
			{Line: "{?sm_log_failed}    not read: {sm_log_failed}"},
			{Line: "{?no readings}{file} has no data of this subnet yet"},
			{Line: "{?recorded}recorded from {since} to {until} in {file}"},
			{Line: "{?megabytes}  {megabytes} MB of at most {most} MB (record keep megabytes=N)"},
			{Line: "{alerts}"},
			{Table: answer.Show(&answer.Table[activeAlert]{
				Key: "alerts", Title: "active alerts, the newest first", MaxRows: newestAlerts,
				Fields: answer.Fields[activeAlert](), Row: "  {since}  {what} ({id})",
			}, func(s *status) answer.Rows[activeAlert] { return alertRows(s.f, s.alerts) })},
		},
	}
)

// Stay declares the events that "record start stay" prints.
var Stay = feature.DeclareStay("record start")

func statusOf(st *recording.Status) *status {
	s := &status{
		File: answer.Optional(st.File), Running: true, Began: st.Began, Every: answer.Duration(st.Errors),
		Traffic: answer.Duration(st.Traffic),
		Rounds:  answer.Int(st.Rounds), EveryText: st.Errors.String(), TrafficText: st.Traffic.String(),
		NoRound: st.Rounds == 0,
	}
	if st.Rounds > 0 {
		s.Ports, s.Unanswered, s.Asked = answer.Int(st.Ports), answer.Int(st.Unanswered),
			answer.Int(st.Ports+st.Unanswered)
		s.PerSecond = answer.Float(st.Share(), 0)
	}
	if st.Failed != nil {
		s.Failed = answer.Text(st.Failed.Error())
	}
	return s
}

// setLog sets the facts about the log of the subnet manager.
func (s *status) setLog(l *smlog.Status) {
	if l == nil {
		return
	}
	s.SMLog, s.SMLogLast = answer.Text(fabric.Escape(l.File)), l.Last
	if s.SMLogMarks = answer.Bool(l.Log.Marks); l.Failed != nil {
		s.SMLogBad, s.SMLogMarks = answer.Text(l.Failed.Error()), answer.NotRead()
		return
	}
	s.NoMarks = !l.Log.Marks
}

// span returns the value of an option in seconds. Without the option it returns the argument otherwise.
func span(c *feature.Call, name string, otherwise time.Duration) (time.Duration, error) {
	text := c.Option(name, "")
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= feature.ShortestInterval && n <= feature.LongestInterval) {
		return 0, c.Misused("%s=%q: expected %g to %d seconds", name, text, feature.ShortestInterval,
			feature.LongestInterval)
	}
	return time.Duration(n * float64(time.Second)), nil
}

func start(c *feature.Call) error {
	every, err := span(c, "every", defaultEvery)
	if err != nil {
		return err
	}
	traffic, err := span(c, "traffic", max(defaultTraffic, every))
	if err != nil {
		return err
	}
	sweep, err := span(c, "sweep", defaultSweep)
	if err != nil {
		return err
	}
	opt := recording.Settings{Every: every, Traffic: traffic, Sweep: sweep, SMLog: c.Option("smlog", "")}
	var unknown []string
	if file := c.Option("hosts", ""); file != "" {
		opt.Hosts = func(ctx context.Context) ([]records.HostSet, error) { return feature.ReadHostSets(ctx, file) }
		sets, err := opt.Hosts(c.Ctx)
		if err != nil {
			return err
		}
		if unknown, err = unknownHosts(c.Session.State().Live.Fabric, sets); err != nil {
			return err
		}
	}
	if c.Option("metrics", "") == "" {
		for _, name := range []string{"hardware", "web", "ports"} {
			if c.Option(name, "") != "" {
				return c.Misused("%s= needs metrics=[HOST:]PORT", name)
			}
		}
		for _, name := range []string{"insecure", "details"} {
			if c.Flag(name) {
				return c.Misused("%s needs metrics=[HOST:]PORT", name)
			}
		}
	}
	if text := c.Option("metrics", ""); text != "" {
		if opt.Metrics, err = metrics.Address(text); err != nil {
			return c.Misused("metrics=%q: %s", text, fabric.Escape(err.Error()))
		}
		opt.Access = metrics.Access{Web: c.Option("web", ""), Insecure: c.Flag("insecure")}
		opt.Servers, opt.Name = c.Console.Metrics()
		opt.Details, opt.Ports, opt.Hardware = c.Flag("details"), c.Option("ports", ""), c.Option("hardware", "")
	}
	return begin(c, opt, unknown)
}

// setMetrics sets the place at which metrics are served.
func (s *status) setMetrics(of *session.Session) {
	address, url := recording.MetricsAt(of)
	s.Metrics, s.URL = answer.Optional(address), answer.Optional(url)
}

// begin starts a recording. The answer gets the given warnings.
func begin(c *feature.Call, opt recording.Settings, warnings []string) error {
	if err := recording.Begin(c.Ctx, c.Session, opt); err != nil {
		return err
	}
	if err := c.SetAlertProgram(); err != nil {
		return errors.Join(err, recording.End(c.Session))
	}
	rec, _ := recording.StatusOf(c.Session)
	a := statusOf(&rec)
	a.setMetrics(c.Session)
	st := c.Session.State()
	b := st.SourceBasis()
	if a.setLog(smlog.Of(&st)); !a.SMLogBad.IsNone() {
		b.Warnings = append(b.Warnings, fmt.Sprintf("the log %s is not read: %s", a.SMLog, a.SMLogBad))
	}
	b.Warnings = append(b.Warnings, warnings...)
	b.Warnings = append(b.Warnings, recording.HardwareWarnings(c.Session)...)
	if rec.Upgraded > 0 {
		b.Warnings = append(b.Warnings, fmt.Sprintf("the records were upgraded from version %d of their format: an "+
			"ibconsole that wrote this version cannot read them any more", rec.Upgraded))
	}
	if err := c.Answer(startDecl.Answer(b, a)); err != nil {
		return err
	}
	if !c.Flag("stay") {
		return nil
	}
	return StayOn(c)
}

// mostUnknown is the number of unknown hosts of a set that are listed.
const mostUnknown = 5

// unknownHosts returns a warning for each set of hosts that has hosts which the subnet lacks.
func unknownHosts(f *fabric.Fabric, sets []records.HostSet) (warnings []string, err error) {
	finder := places.HostFinder{Fabric: f}
	for i := range sets {
		_, missing, err := finder.JobEnds(sets[i].Hosts)
		if err != nil {
			return nil, err
		}
		if n := len(missing); n > 0 {
			names, err := slurm.Expand(sets[i].Hosts)
			if err != nil {
				return nil, err
			}
			warnings = append(warnings, fmt.Sprintf("%d of %s of %s %s not in the subnet: %s", n,
				prose.Count(len(names), "host"), sets[i].Name, prose.When(n == 1, "is", "are"),
				prose.List(prose.Words(missing, fabric.Escape), mostUnknown)))
		}
	}
	return warnings, nil
}

// StayOn prints events until the context ends, and then stops the recording.
func StayOn(c *feature.Call) error {
	return errors.Join(c.StayUntilSignal(Stay), recording.End(c.Session))
}

func stop(c *feature.Call) error {
	rec, _ := recording.StatusOf(c.Session)
	if err := recording.End(c.Session); err != nil {
		return err
	}
	st := c.Session.State()
	return c.Answer(stopDecl.Answer(st.SourceBasis(), statusOf(&rec)))
}

func showStatus(c *feature.Call) error {
	a := &status{}
	if rec, running := recording.StatusOf(c.Session); running {
		a = statusOf(&rec)
		a.setMetrics(c.Session)
	}
	a.Elsewhere = !a.Running && recording.Elsewhere(c.Session)
	a.Nothing = !a.Running && !a.Elsewhere
	if err := a.store(c); err != nil && !errors.Is(err, recorded.ErrNone) {
		return err
	}
	var err error
	if a.Alerts, a.AlertsText, a.alerts, err = alertsOf(c); err != nil {
		return err
	}
	st := c.Session.State()
	a.f = st.Live.Fabric
	a.setLog(smlog.Of(&st))
	return c.Answer(statusDecl.Answer(st.SourceBasis(), a))
}

// store adds the time span and the size of the recorded data to the answer.
func (s *status) store(c *feature.Call) error {
	store, err := c.Session.Recorded().Store(c.Ctx)
	if err != nil {
		return err
	}
	s.File = answer.Optional(store.File())
	var err1, err2, err3 error
	var used, bound int64
	s.Since, s.Until, s.Recorded, err1 = store.Span(c.Ctx, c.Session.Subnet())
	used, err2 = store.Used(c.Ctx)
	bound, err3 = store.Size(c.Ctx)
	s.Used, s.Bound = answer.Int(used), answer.Int(bound)
	s.NoReadings = !s.Recorded
	s.Megabytes, s.Most = answer.Float(float64(used)/(1<<20), 1), answer.Int(bound>>20)
	return errors.Join(err1, err2, err3)
}

// The limits of record keep, in megabytes.
const (
	leastKept = 16
	mostKept  = 1 << 20
)

// The type kept is the answer with the size limit and the resolution of recordings.
type kept struct {
	Megabytes int `key:"megabytes" name:"megabytes" unit:"MB"`
	Minutes   int `name:"minutes"`
	Hours     int `name:"hours"`
}

var keepDecl = feature.OneLine[kept]("record keep", "the size limit of recordings",
	"at most {megabytes} MB: samples for a day, minutes for {minutes|day}, hours for {hours|day}")

func keep(c *feature.Call) error {
	store, err := c.Session.Recorded().Store(c.Ctx)
	if err != nil {
		return err
	}
	size, err := store.Size(c.Ctx)
	if err != nil {
		return err
	}
	n, err := c.AtLeast("megabytes", int(size>>20), leastKept)
	if err != nil {
		return err
	}
	if n > mostKept {
		return c.Misused("megabytes=%d, expected at most %d", n, mostKept)
	}
	if len(c.Options) > 0 {
		if err := errors.Join(store.SetSize(c.Ctx, int64(n)<<20), store.Trim(c.Ctx, time.Now())); err != nil {
			return err
		}
	}
	st := c.Session.State()
	return c.Answer(keepDecl.Answer(st.SourceBasis(), kept{n, records.MinuteDays, records.HourDays}))
}
