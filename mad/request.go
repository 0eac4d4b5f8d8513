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
	ErrTimeout = errors.New("no answer") // after all tries
	// ErrBroken is returned by a transport that can no longer carry packets. The client then fails.
	ErrBroken = errors.New("the transport is broken")
	ErrClosed = errors.New("client closed")
)

// Request is a request to the management agent of a port.
type Request struct {
	Class  Class  // 0 is subnet management; other classes go by LID
	Method Method // 0 is MethodGet
	Attr   AttrID
	Mod    uint32 // attribute modifier: port number, block, ...
	LID    uint16 // destination; 0 for a directed route
	SL     uint8  // service level; unused in SMPs
	PKey   uint16 // index of the P_Key, 0 for the default partition's; unused in SMPs
	Path   Path   // directed route to the destination
	MKey   uint64 // subnet management only
	// Data is the attribute to write in a Set request, at byte 64 of the MAD. In performance management, Data also
	// selects the port of a Get request.
	Data [DataSize]byte
	// GSI holds further fields for requests of classes other than subnet management, otherwise nil. The caller must not
	// change it before the request has ended.
	GSI *GSI

	User uint64 // for the caller; not sent
}

// Set changes the request into one that writes a subnet management attribute.
func (r *Request) Set(a Attribute) {
	r.Method, r.Attr, r.Data = MethodSet, a.AttrID(), Data(a)
}

// Data returns the encoding of a subnet management attribute.
func Data(a Attribute) [DataSize]byte {
	b, _ := a.AppendBinary(nil) // never fails
	return [DataSize]byte(b)
}

// GSI holds the fields for requests of classes other than subnet management. For them the 64 bytes of Data are not
// enough.
type GSI struct {
	Body    Body          // the MAD from byte 24
	Timeout time.Duration // how long the first try waits for an answer; 0 is the client's timeout
	Limit   int           // maximum size of a segmented answer in bytes; 0 is [DefaultLimit]
}

// Body is a MAD without its first 24 bytes, the header that all classes have in common.
type Body [Size - OffBody]byte

// Perf returns the part of the body with a performance management attribute, 192 bytes.
func (b *Body) Perf() []byte { return b[OffData-OffBody:] }

// SA returns the part of the body with a subnet administration attribute, 200 bytes.
func (b *Body) SA() []byte { return b[OffSAData-OffBody:] }

// DefaultLimit is the default maximum size of a segmented answer in bytes.
const DefaultLimit = 1 << 26

// MaxTables is the maximum total size in bytes of all segmented answers in progress. An answer that would exceed it is
// aborted.
const MaxTables = 4 * DefaultLimit

// Reply is the result of a request.
type Reply struct {
	Request *Request       // the request
	Data    [DataSize]byte // attribute if Err is nil; in other classes bytes 64 to 127 of the answer
	// MAD is the answer to a request of a class other than subnet management, or the first segment of the answer. It is
	// nil if there is no answer. It is also set for an answer with an error status. It is valid until the callback
	// returns.
	MAD *[Size]byte
	// Table is the data of a segmented answer without headers. It is nil if the answer is not segmented.
	Table []byte
	Err   error // a [*RequestError] that wraps [ErrTimeout], a [Status] or the transport's error
}

// Decode decodes the attribute into a. If Err is not nil, it returns Err instead.
func (r *Reply) Decode(a Attribute) error {
	if r.Err != nil {
		return r.Err
	}
	if r.MAD != nil {
		return a.UnmarshalBinary(r.MAD[Class(r.MAD[OffClass]).dataAt():])
	}
	return a.UnmarshalBinary(r.Data[:])
}

// RequestError identifies the request that failed, and wraps the cause.
type RequestError struct {
	Class  Class
	Method Method
	Attr   AttrID
	Mod    uint32
	LID    uint16 // 0: by directed route
	Path   Path
	Err    error
}

// Error returns a text such as "NodeInfo by directed route 0,1,5: no answer after 3 tries of 200ms".
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

// put encodes the request into f. It leaves out the transaction ID.
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

// class returns the class of the encoded MAD.
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
