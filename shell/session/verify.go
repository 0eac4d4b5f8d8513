// SPDX-License-Identifier: Apache-2.0

package session

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
	"example.org/ibconsole/shell/session/connection"
	"example.org/ibconsole/shell/session/verify"
)

// Verification is a comparison of what was read of the subnet with what other programs read.
type Verification struct {
	Source string         `json:"source"` // escaped
	Port   string         `json:"port"`   // where the session sits, escaped
	Read   time.Time      `json:"read"`   // when what was compared was read
	Checks []verify.Check `json:"checks"`
	// Verdict is that of all checks.
	Verdict verdict.Verdict `json:"verdict"`
	// Since is what has changed since it was read, up to a thousand: a difference may be that.
	Since []string `json:"changed_since"`
	// Untried lists what nobody has tried on hardware.
	Untried []string `json:"untried"`
}

// Differ counts the differences.
func (v *Verification) Differ() int {
	n := 0
	for i := range v.Checks {
		n += v.Checks[i].Differ
	}
	return n
}

// Verify holds the live picture, as last read, and so many paths by its tables, against ibnetdiscover, dump_fts
// and ibtracert at the same port. Where they differ the subnet is read once more, to say what
// has changed meanwhile; the live picture stays what it was. Nothing is written.
func (s *Session) Verify(ctx context.Context, traces int) (*Verification, error) {
	end, err := s.begin(ctx, "verify")
	if err != nil {
		return nil, err
	}
	v, live, err := s.verify(ctx, traces)
	end()
	if err != nil || v.Differ() == 0 {
		return v, err
	}
	now, _, err := s.ReadNow(ctx)
	if err != nil {
		return nil, err
	}
	v.Since = since(live, now)
	return v, nil
}

func (s *Session) verify(ctx context.Context, traces int) (*Verification, *Picture, error) {
	st := s.State()
	if _, err := s.conn.Line(); err != nil {
		return nil, nil, err
	}
	live := st.Live
	if live.Tables == nil || st.localPort() == fabric.None {
		return nil, nil, connection.ErrUnopened
	}
	tools, done, err := st.tools()
	if err != nil {
		return nil, nil, err
	}
	defer done()
	v := &Verification{
		Source: fabric.Escape(st.Source.String()), Port: live.Fabric.PortName(st.localPort()), Read: live.When,
		Untried: verify.Untried(),
	}
	v.Checks, err = verify.Run(ctx, verify.Options{
		Tables: live.Tables, Renamed: s.names != nil, Tools: tools, Traces: traces, Progress: s.progress,
	})
	for i := range v.Checks {
		v.Verdict = verdict.Worst(v.Verdict, v.Checks[i].Verdict)
	}
	return v, live, err
}

// errInside says that no other program reaches the subnet.
var errInside = errors.New("the subnet is simulated inside the program, where no other program reaches it")

// tools are programs at the port of the session. To an ibsim they get by its library libumad2sim, which makes
// files where it runs.
func (st *State) tools() (t verify.Tools, done func(), err error) {
	done = func() {}
	switch {
	case st.Source.Kind == SourceUmad && st.Adapter != nil:
		t.CA, t.Port = st.Adapter.CA, st.Adapter.Port
		return t, done, nil
	case st.Source.Kind != SourceIbsim:
		return t, done, errInside
	}
	found, _ := filepath.Glob("/usr/lib/*/umad2sim/libumad2sim.so") // the pattern is right
	if len(found) == 0 {
		return t, done, errors.New("programs reach an ibsim by libumad2sim.so, which is not installed")
	}
	if t.Dir, err = os.MkdirTemp("", "ibconsole"); err != nil {
		return t, done, err
	}
	t.Env = []string{"LD_PRELOAD=" + found[0]}
	if host, port, ok := st.Source.remote(); ok {
		t.Env = append(t.Env, "IBSIM_SERVER_NAME="+host, fmt.Sprintf("IBSIM_SERVER_PORT=%d", port))
	} else if st.Source.Arg != "" {
		t.Env = append(t.Env, "IBSIM_SOCKNAME="+st.Source.Arg)
	}
	return t, func() { _ = os.RemoveAll(t.Dir) }, nil
}

const mostSince = 1000

// since says what of a subnet is other than it was.
func since(was, is *Picture) []string {
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
		out = append(out, fmt.Sprintf("%s, LID %d: port %d, was %d", was.Fabric.NodeName(was.Fabric.Switches[e.SwitchOld]), e.LID, e.New, e.Old))
	}
	return out
}
