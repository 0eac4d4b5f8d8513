// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/verdict"
	"example.org/ibconsole/routing/changes/diff"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/connection"
	"example.org/ibconsole/shell/session/live"
	"example.org/ibconsole/shell/session/source"
	"example.org/ibconsole/shell/session/verify"
)

// compared is a comparison of the last sweep with the output of other programs.
type compared struct {
	Source string    // escaped
	Port   string    // the port of the session, escaped
	Read   time.Time // of the last sweep
	Checks []verify.Check
	// Verdict is the worst verdict of the checks.
	Verdict verdict.Verdict
	// Since lists changes of the subnet since the last sweep, which may explain differences. It has at most mostSince
	// entries.
	Since []string
	// Untried lists features that were not tested on hardware.
	Untried []string
}

// differ returns the number of differences.
func (v *compared) differ() int {
	n := 0
	for i := range v.Checks {
		n += v.Checks[i].Differ
	}
	return n
}

// verification compares the live state, and paths by its tables, with the output of ibnetdiscover, dump_fts and
// ibtracert at the same port. If they differ, it reads the subnet again and lists the changes since the last sweep. It
// does not change the live state and writes nothing.
func verification(ctx context.Context, s *session.Session, traces int) (*compared, error) {
	v, was, err := compareTools(ctx, s, traces)
	if err != nil || v.differ() == 0 {
		return v, err
	}
	now, _, err := live.Read(ctx, s)
	if err != nil {
		return nil, err
	}
	v.Since = changesBetween(was, now)
	return v, nil
}

func compareTools(ctx context.Context, s *session.Session, traces int) (*compared, *session.Picture, error) {
	op, err := s.Begin(ctx, "verify")
	if err != nil {
		return nil, nil, err
	}
	defer op.End()
	st := s.State()
	if _, err := s.Connection().Line(); err != nil {
		return nil, nil, err
	}
	was := st.Live
	if was.Tables == nil || st.LocalPort() == fabric.None {
		return nil, nil, connection.ErrUnopened
	}
	programs, done, err := programsAt(&st)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	v := &compared{
		Source: fabric.Escape(st.Source.String()), Port: was.Fabric.PortName(st.LocalPort()), Read: was.When,
		Untried: verify.Untried(),
	}
	v.Checks, err = verify.Run(ctx, verify.Options{
		Tables: was.Tables, Renamed: st.Names != nil, Tools: programs, Traces: traces, Progress: op.Progress,
	})
	for i := range v.Checks {
		v.Verdict = verdict.Worst(v.Verdict, v.Checks[i].Verdict)
	}
	return v, was, err
}

// errInside is returned for a simulated subnet that other programs cannot reach.
var errInside = errors.New("the subnet is simulated inside the program, and other programs cannot reach it")

// programsAt returns the programs to run at the port of the session. With ibsim, they use its library libumad2sim,
// which writes files to the current directory.
func programsAt(st *session.State) (t verify.Tools, done func(), err error) {
	done = func() {}
	switch {
	case st.Source.Kind == source.Umad && st.Adapter != nil:
		t.CA, t.Port = st.Adapter.CA, st.Adapter.Port
		return t, done, nil
	case st.Source.Kind != source.Ibsim:
		return t, done, errInside
	}
	found, _ := filepath.Glob("/usr/lib/*/umad2sim/libumad2sim.so") // the pattern is right
	if len(found) == 0 {
		return t, done, errors.New("libumad2sim.so, which other programs need to reach ibsim, is not installed")
	}
	if t.Dir, err = os.MkdirTemp("", "ibconsole"); err != nil {
		return t, done, err
	}
	t.Env = []string{"LD_PRELOAD=" + found[0]}
	if host, port, ok := st.Source.Remote(); ok {
		t.Env = append(t.Env, "IBSIM_SERVER_NAME="+host, fmt.Sprintf("IBSIM_SERVER_PORT=%d", port))
	} else if st.Source.Arg != "" {
		t.Env = append(t.Env, "IBSIM_SOCKNAME="+st.Source.Arg)
	}
	return t, func() { _ = os.RemoveAll(t.Dir) }, nil
}

const mostSince = 1000

// changesBetween returns up to mostSince changes between two states.
func changesBetween(was, is *session.Picture) []string {
	var out []string
	for _, c := range fabric.Changes(was.Fabric, is.Fabric) {
		if c.Kind != fabric.NodeRenamed && len(out) < mostSince {
			out = append(out, c.String())
		}
	}
	for e := range diff.Changes(was.Tables, is.Tables) {
		if len(out) == mostSince {
			break
		}
		out = append(out, fmt.Sprintf("%s, LID %d: port %d, was %d",
			was.Fabric.NodeName(was.Fabric.Switches[e.SwitchOld]), e.LID, e.New, e.Old))
	}
	return out
}
