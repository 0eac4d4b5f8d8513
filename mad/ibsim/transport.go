// SPDX-License-Identifier: Apache-2.0

package ibsim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"example.org/ibconsole/mad"
)

// Where an ibsim is by default.
const (
	DefaultName = "sim"
	DefaultPort = 7070
)

const (
	// answerLimit is how long ibsim may take to answer a control message.
	answerLimit = 2 * time.Second
	// sendLimit is how long a frame waits for room in ibsim's queue, and up to
	// as long again; stuckLimit the same after a frame that waited in vain.
	sendLimit  = 50 * time.Millisecond
	stuckLimit = time.Millisecond

	// maxName leaves 107 bytes for "@NAME:ctlNUMBER" and a NUL, the most that unix.Bind takes.
	maxName = 91

	// firstNumber is beyond all process ids, which umad2sim numbers its
	// sockets by.
	firstNumber = 1 << 23
)

// ErrGone says that ibsim is no longer there.
var ErrGone = fmt.Errorf("ibsim has gone away, %w", mad.ErrBroken)

// Options say which ibsim to talk to.
type Options struct {
	// Name is the IBSIM_SOCKNAME that ibsim was started under. The default is
	// that in the environment, else [DefaultName].
	Name string
	// Host, if set, is where an ibsim -r runs, by name or IPv4 address.
	Host string
	// Port is its port, [DefaultPort] by default.
	Port uint16
	// Node is the id or description of the node to sit on, of at most 31
	// bytes. The default is SIM_HOST in the environment, else the first node
	// of ibsim's file.
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

// Transport is a client of ibsim. It implements [mad.Transport].
type Transport struct {
	opts   Options
	node   string
	client uint32
	ctl    *os.File
	data   *os.File

	sending sync.Mutex
	out     packet
	sendEnd time.Time // write deadline of data
	stuck   bool      // the last frame was dropped

	receiving sync.Mutex
	in        packet

	closing  sync.Once
	closeErr error
}

// Dial becomes a client of an ibsim. Where there is none, or none that
// answers, it gives an error within some two seconds.
func Dial(ctx context.Context, opts Options) (*Transport, error) {
	opts = opts.withDefaults()
	t := &Transport{opts: opts}
	if err := t.dial(ctx); err != nil {
		t.closeFiles()
		return nil, fmt.Errorf("%v: %w", opts, err)
	}
	return t, nil
}

// Node is the id of the node that the client sits on.
func (t *Transport) Node() string { return t.node }

func (t *Transport) dial(ctx context.Context) error {
	if len(t.opts.Node) >= nodeIDSize {
		return fmt.Errorf("node %q is longer than the %d bytes that ibsim takes", t.opts.Node, nodeIDSize-1)
	}
	if len(t.opts.Name) > maxName {
		return fmt.Errorf("the name is longer than the %d bytes that a socket's address has room for", maxName)
	}
	at, err := t.endpoints(ctx)
	if err != nil {
		return err
	}
	if err := t.open(at); err != nil {
		return err
	}
	id, err := at.id(t.data)
	if err != nil {
		return err
	}
	reply, err := t.control(ctx, ctlConnect, connectData(id, t.opts.Node, t.opts.Traps))
	if err != nil {
		return t.explain(err)
	}
	t.client, t.node = decodeConnect(reply)
	return connect(t.data, at.data(t.client))
}

func (t *Transport) endpoints(ctx context.Context) (endpoints, error) {
	if t.opts.Host == "" {
		return local{t.opts.Name, firstNumber + rand.Uint32N(1<<30)}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	ips, err := net.DefaultResolver.LookupIP(ctx, "ip4", t.opts.Host)
	if err != nil {
		return nil, err
	}
	return remote{[4]byte(ips[0].To4()), t.opts.Port}, nil
}

func (t *Transport) open(at endpoints) (err error) {
	if t.ctl, err = open(at.family(), at.ownControl()); err != nil {
		return err
	}
	if t.data, err = open(at.family(), at.ownData()); err != nil {
		return err
	}
	return t.explain(connect(t.ctl, at.control()))
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
func (t *Transport) control(ctx context.Context, kind uint32, data []byte) ([]byte, error) {
	end := time.Now().Add(answerLimit)
	if d, ok := ctx.Deadline(); ok && d.Before(end) {
		end = d
	}
	if err := t.ctl.SetDeadline(end); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = t.ctl.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	message := control{client: t.client, kind: kind, data: data}
	if _, err := t.ctl.Write(message.encode()); err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	b := make([]byte, ctlSize+1)
	n, err := t.ctl.Read(b)
	if err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	return decodeReply(b[:n], kind)
}

// Send implements [mad.Transport]. Acknowledgements of segments are not sent: no
// client of ibsim understands them. The error wraps [ErrGone] once ibsim has
// ended.
func (t *Transport) Send(f *mad.Frame) error {
	if isControl(&f.Data) {
		return nil
	}
	t.sending.Lock()
	defer t.sending.Unlock()
	t.out.encode(f)
	now := time.Now()
	switch {
	case t.stuck:
		t.limitSend(now.Add(stuckLimit))
	case t.sendEnd.Sub(now) < sendLimit:
		t.limitSend(now.Add(2 * sendLimit))
	}
	_, err := t.data.Write(t.out[:])
	t.stuck = errors.Is(err, os.ErrDeadlineExceeded)
	if err != nil && !t.stuck {
		return t.broken("send", err)
	}
	return nil
}

func (t *Transport) limitSend(end time.Time) {
	t.sendEnd = end
	_ = t.data.SetWriteDeadline(end) // fails for a closed file, as Write then does
}

// Recv implements [mad.Transport]. Packets that are not ibsim's are passed
// over.
func (t *Transport) Recv(f *mad.Frame) error {
	t.receiving.Lock()
	defer t.receiving.Unlock()
	for {
		n, err := t.data.Read(t.in[:])
		if err != nil && !errors.Is(err, io.EOF) {
			return t.broken("receive", err)
		}
		if n == packetSize {
			t.in.decode(f)
			return nil
		}
	}
}

func (t *Transport) broken(what string, err error) error {
	for _, gone := range []syscall.Errno{syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.ENOTCONN, syscall.EPIPE} {
		if errors.Is(err, gone) {
			err = fmt.Errorf("%w: %w", ErrGone, err)
			break
		}
	}
	return fmt.Errorf("%v: %s: %w", t.opts, what, err)
}

// Close gives the client's place back to ibsim. An ibsim that is gone is no
// error.
func (t *Transport) Close() error {
	t.closing.Do(func() {
		_, err := t.control(context.Background(), ctlDisconnect, nil)
		t.closeFiles()
		if err != nil && !errors.Is(err, syscall.ECONNREFUSED) {
			t.closeErr = fmt.Errorf("%v: disconnect: %w", t.opts, err)
		}
	})
	return t.closeErr
}

func (t *Transport) closeFiles() {
	for _, f := range []*os.File{t.ctl, t.data} {
		if f != nil {
			_ = f.Close()
		}
	}
}
