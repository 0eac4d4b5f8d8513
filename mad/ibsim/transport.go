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

// Default addresses of ibsim.
const (
	DefaultName = "sim"
	DefaultPort = 7070
)

const (
	answerLimit = 2 * time.Second // how long ibsim may take to answer a control message

	maxName = 91 // leaves 107 bytes, the maximum of unix.Bind, for "@NAME:ctlNUMBER" and a NUL
)

// ErrGone reports that ibsim has ended.
var ErrGone = fmt.Errorf("ibsim has ended, %w", mad.ErrBroken)

// Options selects an ibsim.
type Options struct {
	Name string // IBSIM_SOCKNAME of the ibsim (default: that of the environment, otherwise [DefaultName])
	Host string // host of an ibsim -r, name or IPv4 address; empty for an ibsim on this machine
	Port uint16 // UDP port (default [DefaultPort])
	// Node is the ID or description of the node to which the client is attached, at most 31 bytes. The default is the
	// value of SIM_HOST in the environment, otherwise the first node of ibsim's file.
	Node string
	// Traps requests the packets that are sent to a subnet manager at the node. These include traps. Only one client at
	// a node can request them.
	Traps bool
}

func (o Options) withDefaults() Options {
	o.Name = cmp.Or(o.Name, os.Getenv("IBSIM_SOCKNAME"), DefaultName)
	o.Port = cmp.Or(o.Port, DefaultPort)
	o.Node = cmp.Or(o.Node, os.Getenv("SIM_HOST"))
	return o
}

// String returns the name of the ibsim: ibsim "NAME" or ibsim at HOST:PORT.
func (o Options) String() string {
	if o.Host != "" {
		return fmt.Sprintf("ibsim at %s:%d", o.Host, o.Port)
	}
	return fmt.Sprintf("ibsim %q", o.Name)
}

// Transport is a client of ibsim, or several clients while it is busy. It implements [mad.Transport].
type Transport struct {
	opts Options
	at   endpoints
	node string

	ctl         *os.File
	asking      sync.Mutex // held for a control message and its reply
	sequence    uint32     // of the last control message
	lateSockets []int      // of connects that were not answered in time

	clients *clients
	out     sender
	in      receiver
	more    widener

	closing  sync.Once
	closeErr error
}

// Dial connects to an ibsim. If ibsim does not respond, it fails within about two seconds.
func Dial(ctx context.Context, opts Options) (*Transport, error) {
	opts = opts.withDefaults()
	t := &Transport{opts: opts, more: widener{ended: make(chan struct{})}}
	t.out.held.resize(batchSize)
	t.in.kept.resize(batchSize)
	if err := t.dial(ctx); err != nil {
		t.closeFiles()
		return nil, fmt.Errorf("%v: %w", opts, err)
	}
	return t, nil
}

// Node returns the ID of the node to which the client is attached.
func (t *Transport) Node() string { return t.node }

func (t *Transport) dial(ctx context.Context) (err error) {
	if len(t.opts.Node) >= nodeIDSize {
		return fmt.Errorf("node %q is longer than the %d bytes that ibsim accepts", t.opts.Node, nodeIDSize-1)
	}
	if len(t.opts.Name) > maxName {
		return fmt.Errorf("the name is longer than the %d bytes that fit into a socket address", maxName)
	}
	if t.at, err = t.endpoints(ctx); err != nil {
		return err
	}
	if t.ctl, err = openControl(t.at); err != nil {
		return t.explain(err)
	}
	if t.clients, err = openClients(); err != nil {
		return err
	}
	c, node, err := t.connect(ctx, t.opts.Node, t.opts.Traps)
	if err != nil {
		return t.explain(err)
	}
	t.node = node
	t.clients.add(c)
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

// probe sends a control message that changes nothing and waits for the reply. An ibsim that hangs finds the message in
// its queue when it continues. A connect message would be dangerous: ibsim would look for a client that no longer
// exists, and end.
func (t *Transport) probe(ctx context.Context) error {
	_, err := t.control(ctx, ctlError, 0, nil)
	return err
}

// connect registers a client at a node and returns the node to which it is attached. It first waits until ibsim has
// answered a probe.
func (t *Transport) connect(ctx context.Context, node string, issm bool) (c *client, at string, err error) {
	if err := t.probe(ctx); err != nil {
		return nil, "", err
	}
	number := newNumber()
	fd, err := open(t.at.family(), t.at.ownData(number))
	if err != nil {
		return nil, "", err
	}
	c = &client{fd: fd}
	id, err := t.at.socketID(number, fd)
	if err != nil {
		return nil, "", errors.Join(err, unix.Close(fd))
	}
	// Not canceled: the place of a connect message whose reply is not read stays taken.
	data, err := t.control(context.WithoutCancel(ctx), ctlConnect, 0, connectData(id, node, issm))
	switch {
	case errors.Is(err, errRefused):
		_ = unix.Close(fd)
		return nil, "", err
	case err != nil:
		t.keepSocket(fd)
		return nil, "", err
	}
	c.id, at = decodeConnect(data)
	if err := unix.Connect(fd, t.at.data(c.id)); err != nil {
		return nil, "", errors.Join(os.NewSyscallError("connect", err), t.disconnect(c))
	}
	return c, at, nil
}

// keepSocket keeps the socket of a connect message that ibsim may still answer. An ibsim that does not find the socket
// ends.
func (t *Transport) keepSocket(fd int) {
	t.asking.Lock()
	defer t.asking.Unlock()
	t.lateSockets = append(t.lateSockets, fd)
}

// explain adds the likely cause to an error of connecting.
func (t *Transport) explain(err error) error {
	const hint = "is ibsim -s running under that IBSIM_SOCKNAME?"
	switch {
	case errors.Is(err, syscall.ECONNREFUSED) && t.opts.Host != "":
		return fmt.Errorf("no ibsim listens on this UDP port (is ibsim -r -s running there?): %w", err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("no ibsim listens on this socket (%s): %w", hint, err)
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
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = t.ctl.SetDeadline(time.Unix(1, 0))
		close(interrupted)
	})
	defer func() {
		if !stop() {
			<-interrupted // otherwise it could interrupt the next control message
		}
	}()
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
		t.lateReply(&r)
	}
}

// lateReply disconnects a client for which the reply to the connect message came too late.
func (t *Transport) lateReply(r *reply) {
	if r.kind == ctlConnect {
		client, _ := decodeConnect(r.data)
		_, _ = t.ctl.Write((&control{client: client, kind: ctlDisconnect}).encode())
	}
}

// disconnect removes a client from ibsim.
func (t *Transport) disconnect(c *client) error {
	_, err := t.control(context.Background(), ctlDisconnect, c.id, nil)
	_ = unix.Close(c.fd)
	return err
}

// disconnectAll removes clients from ibsim. Once a client gets no answer, disconnectAll does not wait for answers to
// the others. ibsim then finds the messages in its queue later.
func (t *Transport) disconnectAll(all []*client) (err error) {
	for _, c := range all {
		if err == nil {
			err = t.disconnect(c)
			continue
		}
		t.leave(c.id)
		_ = unix.Close(c.fd)
	}
	return err
}

// leave removes a client from ibsim without waiting for an answer.
func (t *Transport) leave(client uint32) {
	t.asking.Lock()
	defer t.asking.Unlock()
	if t.ctl.SetDeadline(time.Now().Add(sendLimit)) == nil {
		_, _ = t.ctl.Write((&control{client: client, kind: ctlDisconnect}).encode())
	}
}

// Close removes the clients from ibsim. If ibsim has ended, it returns no error.
func (t *Transport) Close() error {
	t.closing.Do(func() {
		t.stopWidening()
		err := t.disconnectAll(t.clients.drop(0))
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
	for _, fd := range t.lateSockets {
		_ = unix.Close(fd)
	}
	if t.clients != nil {
		t.clients.close()
	}
}
