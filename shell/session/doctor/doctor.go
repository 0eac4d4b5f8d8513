// SPDX-License-Identifier: Apache-2.0

// Package doctor diagnoses a source: the adapters of this machine, the subnet and its subnet manager.
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

// Diagnose returns findings about a source, with remedies. The findings are about the subnet and, if the source is
// umad, about the adapters of this machine. Diagnose opens its own session and writes nothing.
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

// Session returns the findings of [Diagnose] for the source of a session, about the subnet as it was last read. It
// diagnoses the adapters only if the connection is lost, because an adapter that is open works.
func Session(ctx context.Context, s *session.Session) []umad.Finding {
	opt, conn, src := s.Options(), s.Connection(), s.State().Source
	out := slices.Clone(opt.Machine)
	if _, err := conn.Line(); conn.Online() && err != nil {
		out = append(append(out, Machine(ctx, src, opt.Held)...), unopened(src, err))
	}
	return append(out, subnetFindings(ctx, s)...)
}

// Machine returns the findings of [umad.Diagnose] about the adapters that a source selects. Their texts are escaped.
// For sources other than umad it returns nil.
func Machine(ctx context.Context, src source.Source, held *umad.HeldDevices) []umad.Finding {
	if src.Kind != source.Umad {
		return nil
	}
	ports, _ := umad.Ports("") // umad.Diagnose reports the error
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

// unopened returns a finding with the reason why a source could not be read.
func unopened(src source.Source, err error) umad.Finding {
	text := strings.TrimSuffix(err.Error(), source.SeeDoctor)
	f := umad.Finding{Level: umad.Fault, Port: fabric.Escape(src.String()), Text: fabric.Escape(text)}
	switch {
	case errors.Is(err, context.Canceled):
		f.Remedy = "repeat the command: it was interrupted"
	case src.Kind == source.Ibsim:
		f.Remedy = ibsimRemedy(src, err)
	case src.Kind == source.Umad:
		f.Remedy = "see the findings about the adapters above; select a port with -s umad:CA:PORT"
	case errors.Is(err, fs.ErrNotExist):
		f.Remedy = "name an existing file, or generate a simulated subnet: -s sim:fattree:2,36"
	case errors.Is(err, fs.ErrPermission):
		f.Remedy = "make the file readable for this user"
	case src.Kind == source.Net:
		f.Remedy = "net: reads ibsim files and the output of ibnetdiscover, by the rules of ibsim; file: reads these " +
			"unchanged, and other formats"
	default:
		f.Remedy = "use the output of ibnetdiscover, iblinkinfo or ibdiagnet, an ibsim file, an opensm-subnet.lst or " +
			"a snapshot; net: reads a file by the rules of ibsim"
	}
	return f
}

func ibsimRemedy(src source.Source, err error) string {
	start := "start one: IBSIM_SOCKNAME=" + src.Arg + " ibsim -s FILE, with a terminal or an open pipe as standard " +
		"input"
	if src.Arg == "" {
		start = "start one: ibsim -s FILE, with a terminal or an open pipe as standard input; or select a running " +
			"one: -s ibsim:NAME"
	}
	if host, port, ok := src.Remote(); ok {
		start = fmt.Sprintf("start one on %s: ibsim -r -s -l %d FILE", host, port)
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return start
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "ibsim hangs, or is stopped (kill -CONT), or was started without -s and waits for Start on its console"
	case errors.Is(err, mad.ErrBroken):
		return "ibsim has just exited: " + start
	}
	return "disconnect a client (ibsim allows ten), or set SIM_HOST to a node of its subnet"
}

const maxListed = 12 // number of problems listed

// subnetFindings returns the findings about the subnet as it was last read.
func subnetFindings(ctx context.Context, s *session.Session) []umad.Finding {
	st := s.State()
	d := findings{where: fabric.Escape(st.Source.String())}
	f := st.Live.Fabric
	in := f.Inventory().InSubnet
	d.add(umad.Fine, "", "%s, %s and %s were read", prose.Count(in.Switches, "switch"),
		prose.Count(in.Nodes-in.Switches, "adapter"), prose.Count(in.Links, "link"))
	if p := st.LocalPort(); p != fabric.None {
		d.add(umad.Fine, "", "the session uses port %s, LID %d", f.PortName(p), f.Ports[p].LID)
	}
	r, err := survey.Problems(ctx, s, survey.Options{Quick: true})
	if err != nil {
		d.add(umad.Note, "", "%v", err)
		return d.list
	}
	d.problems(r)
	d.manager(ctx, s, &st)
	return d.list
}

// findings collects findings about one source.
type findings struct {
	where string
	list  []umad.Finding
}

func (d *findings) add(l umad.Level, remedy, format string, args ...any) {
	d.list = append(d.list, umad.Finding{Level: l, Port: d.where, Text: fmt.Sprintf(format, args...), Remedy: remedy})
}

// problems adds the errors and warnings of a report, the worst first. Warnings become notes.
func (d *findings) problems(r *problems.Report) {
	found := 0
	for _, p := range r.Problems {
		if p.Severity == problems.Note {
			continue
		}
		if found++; found > maxListed {
			continue
		}
		level := prose.When(p.Severity == problems.Error, umad.Fault, umad.Note)
		d.add(level, p.Try, "%s: %s", p.Kind, p.What)
	}
	if found > maxListed {
		d.add(umad.Note, "run 'problems' to list all", "%d more problems", found-maxListed)
	}
}

// manager adds findings about the master SM, and about the response of its SA.
func (d *findings) manager(ctx context.Context, s *session.Session, st *session.State) {
	master, ok := st.Master()
	if !ok {
		return // a missing master is among the problems
	}
	d.add(umad.Fine, "", "the subnet manager on %s, GUID 0x%016x, is %s", master.Port, master.GUID, master.State)
	defer d.proof(s)
	port := st.LocalPort()
	if port == fabric.None {
		return
	}
	lid := st.Live.Fabric.Ports[port].LID
	if lid == 0 {
		d.add(umad.Note, "wait for the sweep of the subnet manager, then sweep again",
			"this port has no LID yet, so the subnet administration was not queried")
		return
	}
	own := pairs.Pair{Src: port, Dst: port, LID: lid}
	err := administration.PathRecords(ctx, s, []pairs.Pair{own}, func(_ pairs.Pair, _ sa.PathRecord, err error) error {
		return err
	})
	switch {
	case err == nil:
		s.AskManager(ctx)
		d.add(umad.Fine, "", "the subnet administration responds: it has a path record from this port to itself")
	case errors.Is(err, mad.StatusBusy):
		d.add(umad.Note, "repeat the command after the sweep of the subnet manager",
			"the subnet administration is busy")
	default:
		d.add(umad.Fault, "check that this port is a full member of the default partition (P_Key 0xffff), and that "+
			"the subnet manager runs: show sms; read its log", "query the subnet administration: %v", err)
	}
}

// proof adds a finding on whether computed tables are proved to equal those of the SM. A missing proof is only a note,
// because it is not a fault of the subnet.
func (d *findings) proof(s *session.Session) {
	st := s.State()
	p := st.Proof()
	if !p.Asked {
		return
	}
	d.add(prose.When(p.Proved, umad.Fine, umad.Note),
		prose.When(p.Proved, "", "engine from=opensm.conf, or the engine's name, then calibrate"), "%s", &p)
}
