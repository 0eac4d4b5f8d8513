// SPDX-License-Identifier: Apache-2.0

// Package doctor finds what a source lacks: of the adapters of this machine, of the subnet and its manager.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/problems"
	"example.org/ibconsole/internal/base/prose"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/sa"
	"example.org/ibconsole/mad/umad"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/administration"
	"example.org/ibconsole/shell/session/pairs"
	"example.org/ibconsole/shell/session/source"
	"example.org/ibconsole/shell/session/survey"
)

// Diagnose says what there is at a source and what is missing, with the remedy: of this machine's adapters
// where it is umad, and of the subnet behind it. It opens a session of its own, and writes nothing.
func Diagnose(ctx context.Context, src source.Source, opt session.Options) []umad.Finding {
	out := Machine(ctx, src, opt.Held)
	s, err := session.Open(ctx, src, opt)
	if err != nil {
		return append(out, unopened(src, err))
	}
	if err := s.Start(ctx); err != nil {
		out = append(out, unopened(src, err))
	} else {
		out = append(out, subnetFindings(ctx, s)...)
	}
	if err := s.Close(); err != nil {
		out = append(out, umad.Finding{
			Level: umad.Note, Port: fabric.Escape(src.String()), Text: fabric.Escape(err.Error()),
		})
	}
	return out
}

// Session returns for the source of a session what [Diagnose] does, of the subnet as it was read. It diagnoses the
// adapters only where the session has lost its own: one that is open works.
func Session(ctx context.Context, s *session.Session) []umad.Finding {
	opt, conn, src := s.Options(), s.Connection(), s.State().Source
	out := slices.Clone(opt.Machine)
	if _, err := conn.Line(); conn.Online() && err != nil {
		out = append(append(out, Machine(ctx, src, opt.Held)...), unopened(src, err))
	}
	return append(out, subnetFindings(ctx, s)...)
}

// Machine says what [umad.Diagnose] does of the adapters that a source may mean, all for umad, in escaped text.
func Machine(ctx context.Context, src source.Source, held *umad.HeldDevices) []umad.Finding {
	if src.Kind != source.Umad {
		return nil
	}
	ports, _ := umad.Ports("") // what cannot be read is among the findings
	if sel, err := umad.ParseSelector(src.Arg); err == nil {
		if whole := sel.Whole(ports); whole != sel {
			src.Arg = fmt.Sprintf("%s:%d", whole.CA, whole.Port)
		}
	}
	var out []umad.Finding
	for _, f := range umad.Diagnose(ctx, "", held) {
		f.Port, f.Text, f.Remedy = fabric.Escape(f.Port), fabric.Escape(f.Text), fabric.Escape(f.Remedy)
		if f.Port == "" || src.Arg == "" || f.Port == src.String() || strings.HasPrefix(f.Port, src.String()+":") {
			out = append(out, f)
		}
	}
	return out
}

// unopened says why a source cannot be read.
func unopened(src source.Source, err error) umad.Finding {
	text := strings.TrimSuffix(err.Error(), source.SeeDoctor)
	f := umad.Finding{Level: umad.Fault, Port: fabric.Escape(src.String()), Text: fabric.Escape(text)}
	switch {
	case errors.Is(err, context.Canceled):
		f.Remedy = "ask again: it was interrupted"
	case src.Kind == source.Ibsim:
		f.Remedy = ibsimRemedy(src, err)
	case src.Kind == source.Umad:
		f.Remedy = "see what is said of the adapters above; -s umad:CA:PORT names a port"
	case errors.Is(err, fs.ErrNotExist):
		f.Remedy = "name a file that is there; simulated subnets are also made by kind: -s sim:fattree:2,36"
	case errors.Is(err, fs.ErrPermission):
		f.Remedy = "the file must be readable for this user"
	case src.Kind == source.Net:
		f.Remedy = "expected is a file of ibsim or what ibnetdiscover prints; file: takes it at its word, and other " +
			"files too"
	default:
		f.Remedy = "expected is what ibnetdiscover, iblinkinfo or ibdiagnet prints, a file of ibsim, an " +
			"opensm-subnet.lst or a snapshot; net: reads a file by ibsim's rules"
	}
	return f
}

func ibsimRemedy(src source.Source, err error) string {
	start := "start one: IBSIM_SOCKNAME=" + src.Arg + " ibsim -s FILE, with a terminal or a pipe that stays open for " +
		"standard input"
	if src.Arg == "" {
		start = "start one: ibsim -s FILE, with a terminal or a pipe that stays open for standard input; or name it: " +
			"-s ibsim:NAME"
	}
	if host, port, ok := src.Remote(); ok {
		start = fmt.Sprintf("start one on %s: ibsim -r -s -l %d FILE", host, port)
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return start
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "it hangs, or is stopped (kill -CONT), or was started without -s and waits for Start at its console"
	case errors.Is(err, mad.ErrBroken):
		return "it ended just now: " + start
	}
	return "end one of its clients, at most ten can be connected; or SIM_HOST names a node that it does not have"
}

const mostFindings = 12 // how many problems are listed

// subnetFindings are what the subnet that was read last lacks.
func subnetFindings(ctx context.Context, s *session.Session) []umad.Finding {
	st := s.State()
	d := findings{where: fabric.Escape(st.Source.String())}
	f := st.Live.Fabric
	d.say(umad.Fine, "", "%s, %s and %s were read", prose.Count(len(f.Switches), "switch"),
		prose.Count(len(f.Nodes)-len(f.Switches), "adapter"), prose.Count(len(f.Links()), "link"))
	if p := st.LocalPort(); p != fabric.None {
		d.say(umad.Fine, "", "the session sits on %s, LID %d", f.PortName(p), f.Ports[p].LID)
	}
	r, err := survey.Problems(ctx, s, survey.Options{Quick: true})
	if err != nil {
		d.say(umad.Note, "", "%v", err)
		return d.list
	}
	d.problems(r)
	d.manager(ctx, s, &st)
	return d.list
}

type findings struct {
	where string
	list  []umad.Finding
}

func (d *findings) say(l umad.Level, remedy, format string, args ...any) {
	d.list = append(d.list, umad.Finding{Level: l, Port: d.where, Text: fmt.Sprintf(format, args...), Remedy: remedy})
}

// problems lists errors, warnings as notes, the worst first.
func (d *findings) problems(r *problems.Report) {
	told := 0
	for _, p := range r.Problems {
		if p.Severity == problems.Note {
			continue
		}
		if told++; told > mostFindings {
			continue
		}
		level := prose.When(p.Severity == problems.Error, umad.Fault, umad.Note)
		d.say(level, p.Try, "%s: %s", p.Kind, p.What)
	}
	if told > mostFindings {
		d.say(umad.Note, "the command problems lists all", "%d problems more", told-mostFindings)
	}
}

// manager says who is in charge, and whether the subnet administration answers.
func (d *findings) manager(ctx context.Context, s *session.Session, st *session.State) {
	master, ok := st.Master()
	if !ok {
		return // which is a problem where there could be one
	}
	d.say(umad.Fine, "", "the subnet manager on %s, GUID 0x%016x, is %s", master.Port, master.GUID, master.State)
	defer d.proof(s)
	port := st.LocalPort()
	if port == fabric.None {
		return
	}
	lid := st.Live.Fabric.Ports[port].LID
	if lid == 0 {
		d.say(umad.Note, "wait for its sweep, then sweep again",
			"this port has no LID yet, so the subnet administration was not asked")
		return
	}
	own := pairs.Pair{Src: port, Dst: port, LID: lid}
	err := administration.PathRecords(ctx, s, []pairs.Pair{own}, func(_ pairs.Pair, _ sa.PathRecord, err error) error {
		return err
	})
	switch {
	case err == nil:
		s.AskManager(ctx)
		d.say(umad.Fine, "", "the subnet administration answers: it has a path record from this port to itself")
	case errors.Is(err, mad.StatusBusy):
		d.say(umad.Note, "ask again once its sweep is over", "the subnet administration answers that it is busy")
	default:
		d.say(umad.Fault, "is this port a full member of the default partition (P_Key 0xffff)? is the manager up: "+
			"show sms; its log", "subnet administration: %v", err)
	}
}

// proof says whether it is shown that computed tables are the manager's. Where that is not so it is no fault of the
// subnet.
func (d *findings) proof(s *session.Session) {
	st := s.State()
	p := st.Proof()
	if !p.Asked {
		return
	}
	d.say(prose.When(p.Proved, umad.Fine, umad.Note),
		prose.When(p.Proved, "", "engine from=opensm.conf, or the engine's name, then calibrate"), "%s", &p)
}
