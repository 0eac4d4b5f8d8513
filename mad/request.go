// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// Errors of requests.
var (
	ErrTimeout = errors.New("no answer")               // however often the request was sent
	ErrBroken  = errors.New("the transport is broken") // carries nothing any more; a client to which it says so fails
	ErrClosed  = errors.New("client closed")
)

// Request is what is asked of a port's subnet management agent, or of that of another class.
type Request struct {
	Class  Class  // 0: subnet management; others go by LID
	Method Method // 0 is MethodGet
	Attr   AttrID
	Mod    uint32 // the attribute modifier: a port's number, a block, ...
	LID    uint16 // where to by LID; 0 is by directed route
	SL     uint8  // by which to go; SMPs have none
	PKey   uint16 // index of the P_Key to go with, 0: the default partition's; SMPs have none
	Path   Path   // where to by directed route
	MKey   uint64 // of subnet management
	// Data is the attribute of a Set. It goes at byte 64 of the MAD, so in
	// performance management too, where a Get says which port by it.
	Data [DataSize]byte
	// GSI is what more a request of a class other than subnet management
	// carries, or nil. It must stay as it is until the request has ended.
	GSI *GSI

	User uint64 // for the caller; it is not sent
}

// Set makes the request write an attribute of subnet management.
func (r *Request) Set(a Attribute) {
	r.Method, r.Attr, r.Data = MethodSet, a.AttrID(), Data(a)
}

// Data is an attribute of subnet management as it goes over the wire.
func Data(a Attribute) [DataSize]byte {
	b, _ := a.AppendBinary(nil) // never fails
	return [DataSize]byte(b)
}

// GSI is what a request of a class other than subnet management carries, where
// 64 bytes at the place of an SMP's are not enough.
type GSI struct {
	Body    Body          // the MAD from byte 24 on
	Timeout time.Duration // how long the first try waits for an answer, 0 if for as long as the client's
	Limit   int           // how many bytes an answer of many segments may have; 0 is [DefaultLimit]
}

// Body is a MAD without the 24 bytes of header that all classes have.
type Body [Size - OffBody]byte

// Perf returns the 192 bytes of an attribute of performance management.
func (b *Body) Perf() []byte { return b[OffData-OffBody:] }

// SA returns the 200 bytes of an attribute of subnet administration.
func (b *Body) SA() []byte { return b[OffSAData-OffBody:] }

// DefaultLimit is how many bytes an answer of many segments may have where a request does not say.
const DefaultLimit = 1 << 26

// MaxTables is how many bytes all answers in segments that come at a time may have; the one that passes it is ended.
const MaxTables = 4 * DefaultLimit

// Reply is the end of a request.
type Reply struct {
	Request *Request       // what was asked
	Data    [DataSize]byte // the attribute, if Err is nil; of other classes bytes 64 to 127 of the answer
	// MAD is the answer to a request of another class, the first segment if there are many; nil if there is
	// none. It is there with an error status, too. It is good until the callback returns.
	MAD *[Size]byte
	// Table is what the segments of an answer carry one after the other, without
	// the headers; nil if the answer does not come in segments.
	Table []byte
	Err   error // a [*RequestError] that wraps [ErrTimeout], a [Status] or what the transport said
}

// Decode decodes the attribute into a, or returns Err.
func (r *Reply) Decode(a Attribute) error {
	if r.Err != nil {
		return r.Err
	}
	if r.MAD != nil {
		return a.UnmarshalBinary(r.MAD[Class(r.MAD[OffClass]).dataAt():])
	}
	return a.UnmarshalBinary(r.Data[:])
}

// RequestError says which request failed, and why.
type RequestError struct {
	Class  Class
	Method Method
	Attr   AttrID
	Mod    uint32
	LID    uint16 // 0: by directed route
	Path   Path
	Err    error
}

// Error returns for example "NodeInfo by directed route 0,1,5: no answer after 3 tries of 200ms".
func (e *RequestError) Error() string {
	what := e.Attr.Name(e.Class)
	if e.Method != MethodGet {
		what = fmt.Sprintf("%v %s", e.Method, what)
	}
	if e.Mod != 0 {
		what = fmt.Sprintf("%s %d", what, e.Mod)
	}
	where := fmt.Sprintf("by directed route %v", e.Path)
	if e.LID != 0 {
		where = fmt.Sprintf("at LID %d", e.LID)
	}
	return fmt.Sprintf("%s %s: %v", what, where, e.Err)
}

func (e *RequestError) Unwrap() error { return e.Err }

func (r *Request) failed(err error) error {
	return &RequestError{
		Class: r.Class, Method: r.method(), Attr: r.Attr, Mod: r.Mod, LID: r.LID, Path: r.Path, Err: err,
	}
}

func (r *Request) method() Method {
	if r.Method == 0 {
		return MethodGet
	}
	return r.Method
}

// put encodes the request into f, without a transaction id.
func (r *Request) put(f *Frame) {
	be := binary.BigEndian
	b := &f.Data
	class := r.class()
	b[OffBaseVersion] = 1
	b[OffClass] = uint8(class)
	b[OffClassVersion] = class.version()
	b[OffMethod] = uint8(r.method())
	be.PutUint32(b[OffStatus:], 0) // the hops, too
	be.PutUint64(b[OffAttr:], uint64(r.Attr)<<48|uint64(r.Mod))
	f.DLID, f.Status = r.LID, 0
	if !class.isSMP() {
		f.QP, f.SL, f.PKey = QP1, r.SL, r.PKey
		r.putBody(b)
		return
	}
	f.QP, f.SL, f.PKey = 0, 0, 0
	be.PutUint64(b[OffMKey:], r.MKey)
	clear(b[OffDrSLID:OffData])
	copy(b[OffData:], r.Data[:])
	clear(b[OffInitialPath:])
	if class == ClassSMPDirected {
		f.DLID = PermissiveLID
		b[OffHopCount] = r.Path.n
		be.PutUint32(b[OffDrSLID:], PermissiveLID<<16|PermissiveLID)
		copy(b[OffInitialPath+1:OffReturnPath], r.Path.hops[:])
	}
}

// class is the class of the MAD that the request becomes.
func (r *Request) class() Class {
	switch {
	case !r.Class.isSMP():
		return r.Class
	case r.LID == 0:
		return ClassSMPDirected
	}
	return ClassSMPLID
}

func (r *Request) putBody(b *[Size]byte) {
	if r.GSI != nil {
		copy(b[OffBody:], r.GSI.Body[:])
		return
	}
	clear(b[OffBody:OffData])
	copy(b[OffData:], r.Data[:])
	clear(b[OffData+DataSize:])
}
