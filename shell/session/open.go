// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"fmt"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/routing/classify"
	"example.org/ibconsole/shell/session/connection"
	"example.org/ibconsole/shell/session/recorded"
	"example.org/ibconsole/shell/session/recorder"
	"example.org/ibconsole/shell/session/settings"
	"example.org/ibconsole/shell/session/simulated"
	"example.org/ibconsole/shell/session/source"
)

// Open opens a session and connects to its source. It reads no tables; [Session.Start] reads the subnet. If opt.Later
// is set, Open does not connect, and the first sweep connects to the source.
func Open(ctx context.Context, src source.Source, opt Options) (*Session, error) {
	empty, err := new(fabric.Builder).Build()
	if err != nil {
		return nil, err
	}
	chosen, err := settings.Parse(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	s := &Session{
		opt: opt, first: opt.First, state: State{
			Source: src, Settings: chosen, Pictures: Pictures{
				Live: &Picture{Kind: Live, Fabric: empty, When: time.Now()},
			},
		},
	}
	s.recorder.Store(recorder.New(recorder.Options{File: stateFile(opt.StateDir), Why: opt.NoState, All: opt.Record,
		Failed: s.historyFailed, Exposed: s.warn}))
	s.recorded = recorded.New(recorded.Options{History: func() string {
		return s.recorder.Load().File()
	}, SystemDir: opt.Places.Records, Subnet: s.Subnet, ReadOnly: s.historyFailed})
	s.state.recall, s.state.recallAt = s.recall, s.recallAt
	client := opt.Client
	if client.Window == 0 && (opt.Fast || src.Kind != source.Umad) {
		client = mad.Fast()
	}
	client.MKey = opt.Keys.M
	dial := opt.Dial
	if dial == nil {
		dial = s.dialer(src)
	}
	s.conn = connection.New(connection.Options{Source: fabric.Escape(src.String()), Dial: dial, Client: client,
		Keys: []uint64{opt.Keys.M, opt.Keys.SA}, Live: src.Live(), Lost: s.lost})
	if opt.Later || !s.conn.Online() {
		return s, nil
	}
	if err := s.conn.Open(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// The method lost stores the reason why the connection was lost, and disables writing.
func (s *Session) lost(why error) {
	s.Publish(ChangeLive|ChangeSettings, func(st *State) {
		st.Lost, st.WriteOn = why.Error(), false
		st.Note("the connection is lost: %v", why)
	})
}

// dialer returns the function that opens the source, or nil if the source is a file.
func (s *Session) dialer(src source.Source) func(context.Context) (mad.Transport, error) {
	switch src.Kind {
	case source.Sim:
		return s.simulate
	case source.Ibsim:
		return func(ctx context.Context) (mad.Transport, error) { return source.DialIbsim(ctx, src) }
	case source.Umad:
		return s.umadDialer(src)
	}
	return nil
}

// Connection returns the connection to the subnet.
func (s *Session) Connection() *connection.Connection { return s.conn }

// Options returns the options that the session was opened with.
func (s *Session) Options() Options { return s.opt }

// Start reads the subnet for the first time, by a sweep or from the file.
func (s *Session) Start(ctx context.Context) error {
	if err := s.start(ctx); err != nil {
		return err
	}
	s.warnOfHistory(ctx)
	if s.opt.Names != "" {
		if _, err := s.LoadNames(ctx, s.opt.Names); err != nil {
			return fmt.Errorf("names: %w", err)
		}
	}
	if s.opt.Hints != "" {
		hints, err := files.Parse(ctx, s.opt.Hints, files.Config, classify.ReadHints)
		if err != nil {
			return fmt.Errorf("hints: %w", err)
		}
		s.SetHints(hints)
	}
	if s.opt.Watch > 0 && s.State().Source.Live() {
		return s.KeepCurrent(s.opt.Watch)
	}
	return nil
}

func (s *Session) start(ctx context.Context) error {
	if s.conn.Online() {
		if err := sweeperOf(s).sweepFirst(ctx); err != nil {
			return err
		}
		s.findEarlierCommits(ctx)
		s.findBaseline(ctx)
		return nil
	}
	op, err := s.Begin(ctx, "load")
	if err != nil {
		return err
	}
	defer op.End()
	file, err := s.readFile(ctx)
	if err != nil {
		return err
	}
	s.Publish(ChangeLive, func(st *State) {
		st.Live = pictureOf(Live, &file)
		st.Warnings, st.Unread = file.Warnings, file.Unread
		s.takeRead(st, &file)
	})
	s.findBaseline(ctx)
	return nil
}

// umadDialer returns a function that opens a port of this machine with a subnet management agent. Later calls of the
// function open the same port again.
func (s *Session) umadDialer(src source.Source) func(context.Context) (mad.Transport, error) {
	arg := src.Arg
	return func(context.Context) (mad.Transport, error) {
		t, err := source.OpenUmad(arg, s.opt.Held)
		if err != nil {
			return nil, err
		}
		p := t.Port()
		arg = fmt.Sprintf("%s:%d", p.CA, p.Number)
		s.Publish(ChangeLive, func(st *State) { st.Adapter = &Adapter{p.CA, p.Number} })
		return t, nil
	}
}

// simulate creates the subnet of a sim source and connects to it.
func (s *Session) simulate(ctx context.Context) (mad.Transport, error) {
	st := s.State()
	subnet, err := simulated.Open(ctx, st.Source.Arg, formats.Options{Strict: s.opt.Strict}, &st.Settings)
	if err != nil {
		return nil, err
	}
	s.reads.Adaptive = s.reads.Adaptive || subnet.IsAdaptive
	s.Publish(ChangeLive, func(st *State) { st.Warnings, st.Unread = subnet.Warnings, subnet.Unread })
	return subnet.Transport, nil
}
