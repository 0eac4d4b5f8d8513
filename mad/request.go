// SPDX-License-Identifier: Apache-2.0

package mad

import (
	"errors"
	"fmt"
)

// Errors of requests.
var (
	// ErrTimeout says that no answer came, however often the request was sent.
	ErrTimeout = errors.New("no answer")
	// ErrBroken says that a transport carries nothing any more. A client whose
	// transport says so when it sends fails all requests.
	ErrBroken = errors.New("the transport is broken")
	// ErrClosed says that the client was closed.
	ErrClosed = errors.New("client closed")
)

// Request is what is asked of a port's subnet management agent.
type Request struct {
	Method Method // MethodGet or MethodSet; 0 is MethodGet
	Attr   AttrID
	Mod    uint32 // the attribute modifier: a port's number, a block, ...
	LID    uint16 // where to by LID; 0 is by directed route
	Path   Path   // where to by directed route
	MKey   uint64
	Data   [DataSize]byte // of a Set

	// User is for the caller; it is not sent.
	User uint64
}

// Reply is the end of a request.
type Reply struct {
	// Request is what was asked.
	Request *Request
	// Data is the attribute, if Err is nil.
	Data [DataSize]byte
	// Err is a [*RequestError] that wraps [ErrTimeout], a [Status] or what the
	// transport said.
	Err error
}

// Decode decodes the attribute into a, or returns Err.
func (r *Reply) Decode(a Attribute) error {
	if r.Err != nil {
		return r.Err
	}
	return a.UnmarshalBinary(r.Data[:])
}

// RequestError says which request failed, and why.
type RequestError struct {
	Method Method
	Attr   AttrID
	Mod    uint32
	LID    uint16 // 0: by directed route
	Path   Path
	Err    error
}

// Error returns for example "NodeInfo by directed route 0,1,5: no answer after
// 3 tries of 200ms".
func (e *RequestError) Error() string {
	what := e.Attr.String()
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

// Unwrap returns Err.
func (e *RequestError) Unwrap() error { return e.Err }

func (r *Request) failed(err error) error {
	return &RequestError{Method: r.method(), Attr: r.Attr, Mod: r.Mod, LID: r.LID, Path: r.Path, Err: err}
}

func (r *Request) method() Method {
	if r.Method == 0 {
		return MethodGet
	}
	return r.Method
}

// put encodes the request into f, without a transaction id.
func (r *Request) put(f *Frame) {
	smp := SMP{
		BaseVersion:  1,
		Class:        ClassSMPLID,
		ClassVersion: 1,
		Method:       r.method(),
		Attr:         r.Attr,
		Mod:          r.Mod,
		MKey:         r.MKey,
		Data:         r.Data,
	}
	f.DLID = r.LID
	if r.LID == 0 {
		f.DLID = PermissiveLID
		smp.SetPath(r.Path)
	}
	f.Status = 0
	smp.Put(&f.Data)
}
