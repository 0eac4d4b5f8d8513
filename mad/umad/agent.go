// SPDX-License-Identifier: Apache-2.0

package umad

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"example.org/ibconsole/mad"
)

// ErrRefused reports that the kernel does not register an agent for a class.
var ErrRefused = errors.New("refused")

// agent is a registration with the kernel.
type agent struct {
	class   mad.Class
	version uint8 // of the class
	qp      uint32
	takes   uint64 // methods of received requests, one bit each
	id      uint32
	held    bool  // registered
	err     error // why it is not registered
}

// newAgents returns the agents of a transport. They receive no requests, and the kernel does not assemble segments for
// them.
func newAgents() [4]agent {
	return [...]agent{
		{class: mad.ClassSMPLID, version: 1},
		{class: mad.ClassSMPDirected, version: 1},
		{class: mad.ClassSA, version: 2, qp: mad.QP1},
		{class: mad.ClassPerf, version: 1, qp: mad.QP1},
	}
}

// register registers the agent with the kernel and records whether this succeeded.
func (a *agent) register(d *device) {
	id, err := a.ask(d)
	a.id, a.held = id, err == nil
	if err != nil {
		a.err = fmt.Errorf("register an agent for class 0x%02x: %w: %w", uint8(a.class), ErrRefused, err)
	}
}

// registerForTraps registers an agent that receives traps. If another program already receives them, it registers the
// agent without traps and returns an error.
func (a *agent) registerForTraps(d *device) error {
	a.takes = 1 << mad.MethodTrap
	a.register(d)
	if a.err == nil {
		return nil
	}
	refused := a.err
	a.takes, a.err = 0, nil
	if a.register(d); a.err != nil {
		return a.err
	}
	return fmt.Errorf("traps go to another program on this port, a subnet manager perhaps: %w", refused)
}

// ask sends the newer registration request. If the kernel does not know this request, ask sends the older one.
func (a *agent) ask(d *device) (id uint32, err error) {
	b := a.request2()
	if err = d.ioctl(registerAgent2, b[:]); err == nil {
		return binary.NativeEndian.Uint32(b[:]), nil
	}
	if !errors.Is(err, unix.ENOTTY) && !errors.Is(err, unix.EINVAL) {
		return 0, err
	}
	old := a.request()
	if err = d.ioctl(registerAgent, old[:]); err != nil {
		return 0, err
	}
	return binary.NativeEndian.Uint32(old[:]), nil
}

// release unregisters the agent. Closing the device also unregisters agents, but stand-ins for the kernel need an
// explicit request. release returns no error for an agent that was removed together with its adapter.
func (a *agent) release(d *device) error {
	if !a.held {
		return nil
	}
	a.held = false
	var id [sizeAgentID]byte
	binary.NativeEndian.PutUint32(id[:], a.id)
	if err := d.ioctl(unregisterAgent, id[:]); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.EIO) {
		return fmt.Errorf("unregister the agent for class 0x%02x: %w", uint8(a.class), err)
	}
	return nil
}

// request2 returns a struct ib_user_mad_reg_req2:
//
//	 0  id       4  out
//	 4  QP       4
//	 8  class    1
//	 9  version  1
//	10  reserved 2
//	12  flags    4
//	16  methods 16  of requests that the agent receives, one bit each
//	32  OUI      4
//	36  RMPP     1  version, 0: the kernel does not process segments
//	37  reserved 3
func (a *agent) request2() (b [sizeRequest2]byte) {
	binary.NativeEndian.PutUint32(b[4:], a.qp)
	b[8], b[9] = uint8(a.class), a.version
	binary.NativeEndian.PutUint64(b[16:], a.takes)
	return b
}

// request returns a struct ib_user_mad_reg_req, for kernels before 3.18:
//
//	 0  id       4  out
//	 4  methods 16
//	20  QP       1
//	21  class    1
//	22  version  1
//	23  OUI      3
//	26  RMPP     1
//	27  padding  1
func (a *agent) request() (b [sizeRequest]byte) {
	binary.NativeEndian.PutUint32(b[4:], uint32(a.takes))
	b[20], b[21], b[22] = uint8(a.qp), uint8(a.class), a.version
	return b
}

// The ioctls in ib_user_mad_ioctl.h and the sizes of their arguments in bytes.
const (
	magic = 0x1b

	sizeAgentID  = 4
	sizeRequest  = 28
	sizeRequest2 = 40

	registerAgent   = iocRead<<iocDirection | iocWrite<<iocDirection | sizeRequest<<16 | magic<<8 | 1
	unregisterAgent = iocWrite<<iocDirection | sizeAgentID<<16 | magic<<8 | 2
	enablePKey      = iocNone<<iocDirection | magic<<8 | 3
	registerAgent2  = iocRead<<iocDirection | iocWrite<<iocDirection | sizeRequest2<<16 | magic<<8 | 4
)
