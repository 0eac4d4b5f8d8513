// SPDX-License-Identifier: Apache-2.0

package ibsim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"example.org/ibconsole/mad"
)

// Where an ibsim is by default.
const (
	DefaultName = "sim"
	DefaultPort = 7070
)

const (
	answerLimit = 2 * time.Second // how long ibsim may take to answer a control message

	maxName = 91 // leaves 107 bytes for "@NAME:ctlNUMBER" and a NUL, the most that unix.Bind takes
)

// ErrGone says that ibsim is no longer there.
var ErrGone = fmt.Errorf("ibsim has gone away, %w", mad.ErrBroken)

// Options say which ibsim to talk to.
type Options struct {
	Name string // the IBSIM_SOCKNAME of the ibsim; by default that in the environment, else [DefaultName]
	Host string // if set, where an ibsim -r runs, by name or IPv4 address
	Port uint16 // its port, [DefaultPort] by default
	// Node is the id or description of the node to sit on, of at most 31 bytes. The default is SIM_HOST in
	// the environment, else the first node of ibsim's file.
	Node string
	// Traps makes ibsim hand over what comes for a subnet manager at the node, so
	// that traps come in. There can be one such client at a node.
	Traps bool
}

func (o Options) withDefaults() Options {
	o.Name = cmp.Or(o.Name, os.Getenv("IBSIM_SOCKNAME"), DefaultName)
	o.Port = cmp.Or(o.Port, DefaultPort)
	o.Node = cmp.Or(o.Node, os.Getenv("SIM_HOST"))
	return o
}

// String names the ibsim: ibsim "NAME" or ibsim at HOST:PORT.
func (o Options) String() string {
	if o.Host != "" {
		return fmt.Sprintf("ibsim at %s:%d", o.Host, o.Port)
	}
	return fmt.Sprintf("ibsim %q", o.Name)
}

// Transport is a client of ibsim, or several while there is much to carry. It implements [mad.Transport].
type Transport struct {
	opts Options
	at   endpoints
	node string

	ctl      *os.File
	asking   sync.Mutex // held for a control message and its reply
	sequence uint32     // of the last control message
	owed     []int      // sockets of connects that were not answered in time

	lanes *lanes
	out   sender
	in    receiver
	more  widener

	closing  sync.Once
	closeErr error
}

// Dial becomes a client of an ibsim. Where none is or answers, it fails within some two seconds.
func Dial(ctx context.Context, opts Options) (*Transport, error) {
	opts = opts.withDefaults()
	t := &Transport{opts: opts, more: widener{ended: make(chan struct{})}}
	t.out.held.resize(together)
	t.in.kept.resize(together)
	if err := t.dial(ctx); err != nil {
		t.closeFiles()
		return nil, fmt.Errorf("%v: %w", opts, err)
	}
	return t, nil
}

// Node is the id of the node that the client sits on.
func (t *Transport) Node() string { return t.node }

func (t *Transport) dial(ctx context.Context) (err error) {
	if len(t.opts.Node) >= nodeIDSize {
		return fmt.Errorf("node %q is longer than the %d bytes that ibsim takes", t.opts.Node, nodeIDSize-1)
	}
	if len(t.opts.Name) > maxName {
		return fmt.Errorf("the name is longer than the %d bytes that a socket's address has room for", maxName)
	}
	if t.at, err = t.endpoints(ctx); err != nil {
		return err
	}
	if t.ctl, err = openControl(t.at); err != nil {
		return t.explain(err)
	}
	if t.lanes, err = openLanes(); err != nil {
		return err
	}
	l, node, err := t.connect(ctx, t.opts.Node, t.opts.Traps)
	if err != nil {
		return t.explain(err)
	}
	t.node = node
	t.lanes.add(l)
	return nil
}

func (t *Transport) endpoints(ctx context.Context) (endpoints, error) {
	if t.opts.Host == "" {
		return local{t.opts.Name}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	ips, err := net.DefaultResolver.LookupIP(ctx, "ip4", t.opts.Host)
	if err != nil {
		return nil, err
	}
	return remote{[4]byte(ips[0].To4()), t.opts.Port}, nil
}

// probe asks something that changes nothing: ibsim sends a message of no type back. One that hangs finds it in
// its queue when it goes on, where a connect would make it look for a client that has gone, and end.
func (t *Transport) probe(ctx context.Context) error {
	_, err := t.control(ctx, ctlError, 0, nil)
	return err
}

// connect takes one of ibsim's places, at a node, and returns which. It asks only an ibsim that answers.
func (t *Transport) connect(ctx context.Context, node string, issm bool) (l *lane, at string, err error) {
	if err := t.probe(ctx); err != nil {
		return nil, "", err
	}
	number := newNumber()
	fd, err := open(t.at.family(), t.at.ownData(number))
	if err != nil {
		return nil, "", err
	}
	l = &lane{fd: fd}
	id, err := t.at.id(number, fd)
	if err != nil {
		return nil, "", errors.Join(err, unix.Close(fd))
	}
	data, err := t.control(ctx, ctlConnect, 0, connectData(id, node, issm))
	switch {
	case errors.Is(err, errRefused):
		_ = unix.Close(fd)
		return nil, "", err
	case err != nil:
		t.owe(fd)
		return nil, "", err
	}
	l.client, at = decodeConnect(data)
	if err := unix.Connect(fd, t.at.data(l.client)); err != nil {
		return nil, "", errors.Join(os.NewSyscallError("connect", err), t.giveBack(l))
	}
	return l, at, nil
}

// owe keeps a socket for a connect that may be answered yet: an ibsim that does not find it then ends.
func (t *Transport) owe(fd int) {
	t.asking.Lock()
	defer t.asking.Unlock()
	t.owed = append(t.owed, fd)
}

// explain says what a failure to reach ibsim means.
func (t *Transport) explain(err error) error {
	const hint = "is ibsim -s running under that IBSIM_SOCKNAME?"
	switch {
	case errors.Is(err, syscall.ECONNREFUSED) && t.opts.Host != "":
		return fmt.Errorf("nobody listens there (is ibsim -r -s running there?): %w", err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("nobody listens there (%s): %w", hint, err)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("no answer within %v (was it started with -s?): %w", answerLimit, err)
	case errors.Is(err, errRefused) && t.opts.Node != "":
		return fmt.Errorf("%w: it has no node %q, or ten clients already", err, t.opts.Node)
	case errors.Is(err, errRefused):
		return fmt.Errorf("%w: it has ten clients already", err)
	}
	return err
}

// control sends a control message and returns the data of the reply.
func (t *Transport) control(ctx context.Context, kind, client uint32, data []byte) ([]byte, error) {
	t.asking.Lock()
	defer t.asking.Unlock()
	end := time.Now().Add(answerLimit)
	if d, ok := ctx.Deadline(); ok && d.Before(end) {
		end = d
	}
	if err := t.ctl.SetDeadline(end); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = t.ctl.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	t.sequence++
	message := control{client, kind, data, t.sequence}
	if _, err := t.ctl.Write(message.encode()); err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	for {
		b := make([]byte, ctlSize+1)
		n, err := t.ctl.Read(b)
		if err != nil {
			return nil, cmp.Or(ctx.Err(), err)
		}
		r, err := decodeReply(b[:n])
		if err != nil {
			return nil, err
		}
		if r.sequence == t.sequence {
			return r.to(kind)
		}
		t.tooLate(&r)
	}
}

// tooLate gives a place back that came when nobody waited for it any more.
func (t *Transport) tooLate(r *reply) {
	if r.kind == ctlConnect {
		client, _ := decodeConnect(r.data)
		_, _ = t.ctl.Write((&control{client: client, kind: ctlDisconnect}).encode())
	}
}

// giveBack gives a place back.
func (t *Transport) giveBack(l *lane) error {
	_, err := t.control(context.Background(), ctlDisconnect, l.client, nil)
	_ = unix.Close(l.fd)
	return err
}

// giveAllBack gives places back. An ibsim that does not answer at first finds the others in its queue later.
func (t *Transport) giveAllBack(all []*lane) (err error) {
	for _, l := range all {
		if err == nil {
			err = t.giveBack(l)
			continue
		}
		t.leave(l.client)
		_ = unix.Close(l.fd)
	}
	return err
}

// leave tells ibsim that a place is free, and does not wait for an answer.
func (t *Transport) leave(client uint32) {
	t.asking.Lock()
	defer t.asking.Unlock()
	if t.ctl.SetDeadline(time.Now().Add(sendLimit)) == nil {
		_, _ = t.ctl.Write((&control{client: client, kind: ctlDisconnect}).encode())
	}
}

// Close gives the client's places back to ibsim. An ibsim that is gone is no error.
func (t *Transport) Close() error {
	t.closing.Do(func() {
		t.stopWidening()
		err := t.giveAllBack(t.lanes.drop(0))
		t.closeFiles()
		if err != nil && !errors.Is(err, syscall.ECONNREFUSED) {
			t.closeErr = fmt.Errorf("%v: disconnect: %w", t.opts, err)
		}
	})
	return t.closeErr
}

func (t *Transport) closeFiles() {
	if t.ctl != nil {
		_ = t.ctl.Close()
	}
	for _, fd := range t.owed {
		_ = unix.Close(fd)
	}
	if t.lanes != nil {
		t.lanes.close()
	}
}
