/// A line cut into strokes, each of one kind and thinned by shape; pieces too small to see become dots.
struct LineStrokes {
    /// How far the strokes may lie beside the line; what is smaller than this is a dot.
    let tolerance: Double
    /// A stroke of another kind begins no nearer to the last one's beginning than this, along the line.
    let spacing: Double

    private struct Cell: Hashable {
        let x: Double
        let y: Double
    }

    /// Hands on every stroke in order, at least one point each.
    ///
    /// - Parameters:
    ///   - vertices: the line; a vertex begins a piece where it says so.
    ///   - isAlike: whether two vertices belong into one stroke.
    ///   - take: gets a stroke, and whether it begins with the last point of the one before.
    func forEach(
        of vertices: [TrackLine.Vertex], isAlike: (TrackLine.Vertex, TrackLine.Vertex) -> Bool,
        take: (_ stroke: [TrackLine.Vertex], _ continues: Bool) -> Void
    ) {
        var dots: Set<Cell> = []
        var start = 0
        while start < vertices.count {
            let end = vertices[(start + 1)...].firstIndex(where: \.beginsPiece) ?? vertices.count
            let piece = vertices[start..<end]
            if isDot(piece) {
                if dots.insert(cell(of: vertices[start].point)).inserted { take([vertices[start]], false) }
            } else {
                cut(piece, isAlike: isAlike, take: take)
            }
            start = end
        }
    }

    private func cut(
        _ piece: ArraySlice<TrackLine.Vertex>, isAlike: (TrackLine.Vertex, TrackLine.Vertex) -> Bool,
        take: ([TrackLine.Vertex], Bool) -> Void
    ) {
        var start = piece.startIndex
        var length = 0.0
        for index in piece.indices.dropFirst() {
            length += (piece[index].point - piece[index - 1].point).length
            let isLast = index == piece.endIndex - 1
            guard isLast || length >= spacing && !isAlike(piece[start], piece[index]) else { continue }
            let stroke = piece[start...index]
            let kept = LineThinning.kept(of: stroke.lazy.map(\.point), tolerance: tolerance)
            take(kept.map { stroke[start + $0] }, start > piece.startIndex)
            (start, length) = (index, 0)
        }
    }

    private func isDot(_ piece: ArraySlice<TrackLine.Vertex>) -> Bool {
        guard let first = piece.first else { return true }
        return piece.allSatisfy { ($0.point - first.point).length <= tolerance }
    }

    private func cell(of point: PlanePoint) -> Cell {
        let side = max(tolerance, 1e-9)
        return Cell(x: (point.x / side).rounded(.down), y: (point.y / side).rounded(.down))
    }
}
